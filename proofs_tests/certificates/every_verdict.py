"""Certificates of the verdicts on all schemes, all methods on blocks and all known bugs, at two sizes each."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spec_math import SCHEMES, check_lossless, check_lossless_block
from spec_math.audit import ZOO
from spec_math.block_level.methods import METHODS
from spec_math.certificates import check_paths
from spec_math.studies.blocks.own_methods import standard_models
from spec_math.zoo import toy

PAIRS = {"2 tokens": (["1/4", "3/4"], ["1/2", "1/2"]), "3 tokens": (["1/4", "1/2", "1/4"], ["1/2", "1/3", "1/6"])}

CHEAP = {"M2", "M6", "M25", "M26", "M29", "M33", "M37", "M38", "M41", "M43", "C1", "C2", "C4", "C5"}
"""Known bugs and right programs whose verdicts take little time."""

CHECK_ALL = """
import check_paths, sys
for name in sys.argv[1:]:
    code = check_paths.main([name])
    if code:
        sys.exit(f"{name}: exit code {code}")
"""


def verdicts(large: bool = True) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield (name, what makes the verdict); the large sizes take minutes."""
    for size, (target, draft) in PAIRS.items():
        for scheme in SCHEMES:
            yield f"{scheme.name}, {size}", lambda one=scheme, t=target, d=draft: check_lossless(one, t, d, 2)
    target, draft = standard_models()[0]
    for lookahead in (1, 2) if large else (1,):
        for method in METHODS:

            def block(coin: Any, prefix: Any, method: Any = method, size: int = lookahead) -> Any:
                return method.generate(coin, target, draft, prefix, size, 2)

            yield (
                f"{method.name}, lookahead {lookahead}",
                lambda one=block, size=lookahead: check_lossless_block(one, target, size + 1),
            )
    for one in ZOO:
        if one.generate is not None and (large or one.name in CHEAP):
            for horizon in (2, toy.HORIZON):
                yield (
                    f"{one.name}, {horizon} tokens",
                    lambda one=one, size=horizon: check_lossless_block(one.generate, one.target, size, one.rounds),
                )


def written(folder: Path, large: bool = True) -> dict[str, tuple[Any, Path]]:
    """Write the certificate of each verdict that is decided; return the verdict and the file."""
    found: dict[str, tuple[Any, Path]] = {}
    for number, (name, judge) in enumerate(verdicts(large)):
        verdict = judge()
        if hasattr(verdict, "certificate"):
            place = folder / f"{number}.json{'.gz' if number % 2 else ''}"
            verdict.certificate().save(place)
            found[name] = verdict, place
    return found


def checked_elsewhere(folder: Path, files: list[Path]) -> subprocess.CompletedProcess[str]:
    """Check files with a copy of the checker alone, in a Python that finds no installed package."""
    _ = shutil.copy(check_paths.__file__, folder / "check_paths.py")
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n{CHECK_ALL}"
    command = [sys.executable, "-I", "-S", "-c", program, *map(str, files)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def main() -> None:
    """Write and check all of them, and print how many there are."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        found = written(Path(place))
        ran = checked_elsewhere(Path(place), [file for _, file in found.values()])
        lossless = sum(bool(verdict) for verdict, _ in found.values())
        said = f"{len(found)} certificates, {lossless} lossless, {len(found) - lossless} lossy"
        _ = sys.stdout.write(f"{said}; exit code of the checker {ran.returncode} {ran.stderr[-500:]}\n")


if __name__ == "__main__":
    main()
