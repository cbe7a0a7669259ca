"""Wrong versions of the checker of proofs. `python -m proofs_tests.certificates.proof_mutants` prints what lives."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tempfile
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

from proofs_tests.certificates.checker_mutants import Case, survivors
from proofs_tests.certificates.proof_forgeries import SMALL, certificate
from proofs_tests.certificates.test_proof import BY_HAND, K_SEQ
from spec_math.certificates import check_proof

FORMULA = "K-SEQ: as its formula says", "all distributions on 2 tokens, 2 drafts, every γ with f(γ) ≤ 0"


def checked(document: dict[str, Any]) -> Case:
    """Return the case that checks a document."""
    return lambda module: module.check(deepcopy(document))


def started(place: Path) -> Case:
    """Return the case that runs the command on a file."""

    def case(module: ModuleType) -> tuple[int, str]:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            return module.main([str(place)]), printed.getvalue()

    return case


def cases(folder: Path) -> dict[str, Case]:
    """Return right certificates, those changed by hand, and files of each kind."""
    right = [certificate(*theorem) for theorem in (*SMALL, K_SEQ, FORMULA)]
    found = {f"right {at}": checked(document) for at, document in enumerate(right)}
    for words, change in BY_HAND.items():
        for document in (right[0], right[3], right[5]):
            forgery = deepcopy(document)
            with contextlib.suppress(StopIteration):
                change(forgery)
                found[f"{words} {len(found)}"] = checked(forgery)
    text = json.dumps(right[0])
    _ = (folder / "right.json").write_text(text, encoding="utf-8")
    _ = (folder / "right.json.gz").write_bytes(gzip.compress(text.encode()))
    forgery = deepcopy(right[0])
    BY_HAND["a sign is left out"](forgery)
    _ = (folder / "forged.json").write_text(json.dumps(forgery), encoding="utf-8")
    _ = (folder / "other.json").write_text('{"format": "another"}', encoding="utf-8")
    files = ("right.json", "right.json.gz", "forged.json", "other.json", "none.json")
    return found | {name: started(folder / name) for name in files}


def main() -> int:
    """Print each change of the checker that no case notices."""
    with tempfile.TemporaryDirectory() as folder:
        living = survivors(Path(check_proof.__file__), cases(Path(folder)))
    print(*living, f"{len(living)} changes live", sep="\n")
    return int(bool(living))


if __name__ == "__main__":
    raise SystemExit(main())
