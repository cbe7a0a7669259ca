"""`make mutants`: a sample of wrong versions of one floor, and how many of them its tests reject.

Each floor is copied, its compiled and cached functions are made plain (a decorated function is never mutated), mutmut
writes the mutants, and the floor's own tests run against each, without compilation and without shrinking.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from subprocess import PIPE

from rich.console import Console
from rich.table import Table

from proofs_tests.mutants import equivalent

ROOT = Path(__file__).parent.parent.parent
FLOORS = ("token_level", "block_level", "string_level")
MORE_FLOORS = sorted(
    path.name for path in (ROOT / "spec_math").iterdir() if (ROOT / "proofs_tests" / path.name).is_dir()
)
KINDS = ("killed", "survived", "too slow", "no test")
MEASURES = ("mutants", "sampled", "equivalent by rule", *KINDS, "unexplained", "not run")
SHARED_TESTS = ["proofs_tests/test_notebook.py"]
MUTANT = re.compile(r"[\wǁ.]+__mutmut_\d+")
PLAIN = re.compile(
    r"^@(numba\.njit|njit|kernel|inner_kernel|register_jitable|remembering|compiled|lru_cache|cache)\b.*\n",
    re.MULTILINE,
)
COPIED = ["proofs_tests", "torch_bridge", "benchmarks", "docs", "README.md"]
# 4 and 5 are pytest's for arguments that it cannot read and for no test at all: nothing was rejected.
OUTCOME = {0: "survived", 4: "no test", 5: "no test", 33: "no test", 36: "too slow", 24: "too slow", -24: "too slow"}
# Each mutant starts from a process that has run no test: what a test keeps for later is not kept from another mutant.
FIXED = """
track_dependencies = false
use_git_change_detection = false
process_isolation = "forkserver"
timeout_multiplier = 4.0
timeout_constant = 10.0
"""
ENVIRONMENT = {**os.environ, "NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "mutants", "PYTHONWARNINGS": "ignore"}
PYTEST = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", "-W", "ignore::ResourceWarning"]
PATIENCE = ["-p", "proofs_tests.mutants.patience"]


def main() -> int:
    """Run the floors asked for; the exit code is 1 where under 90 % were killed, or one lives for no stated reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--floor", choices=MORE_FLOORS, action="append", help="a floor; those that laws rest on unless told"
    )
    parser.add_argument("--sample", type=int, default=600, help="mutants a floor")
    parser.add_argument("--salt", default="1", help="another salt is a fresh sample")
    parser.add_argument("--minutes", type=float, default=30, help="time for the mutants of one floor")
    parser.add_argument("--only", type=Path, help="judge the mutants that a file names, as an earlier list does")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "mutants", help="where the copies are made")
    asked = parser.parse_args()
    console = Console()
    columns = {floor: judged(floor, asked, console) for floor in asked.floor or FLOORS}
    table = Table("", *columns)
    for row in MEASURES:
        table.add_row(row, *(f"{counts[row]:,}" for counts in columns.values()))
    table.add_row("killed, %", *(f"{100 * share(counts):.1f}" for counts in columns.values()))
    console.print(table)
    enough = all(share(counts) >= 0.9 and not counts["unexplained"] + counts["not run"] for counts in columns.values())
    return 0 if enough else 1


def judged(floor: str, asked: argparse.Namespace, console: Console) -> dict[str, int]:
    """Make the mutants of a floor, judge a sample of them, and return how many there are of each of MEASURES."""
    place = copied(floor, asked.folder)
    configure(floor, place, tests_in_time(floor, place, console))
    names = generated(place)
    chosen, same = sampled(names, place, asked)
    run(chosen, place, asked.minutes, console)
    found = results(chosen, place)
    if chosen and not found:
        log = (place / "mutmut.log").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"none of the {len(chosen)} mutants of {floor} was judged:\n{log[-2000:]}")
    counts = {kind: sum(value == kind for value in found.values()) for kind in KINDS}
    return {
        "mutants": len(names),
        "sampled": len(chosen) + len(same),
        "equivalent by rule": len(same),
        **counts,
        "unexplained": survivors(found, same, place, console),
        "not run": len(chosen) - len(found),
    }


def share(counts: dict[str, int]) -> float:
    """Return the share of the judged mutants that were rejected; one that never ends is, by any limit on its time."""
    total = sum(counts[kind] for kind in KINDS)
    return (counts["killed"] + counts["too slow"]) / total if total else 0.0


def copied(floor: str, folder: Path) -> Path:
    """Copy what git knows of, with compiled and cached functions made plain; the copy of an earlier run goes."""
    place = folder / floor
    shutil.rmtree(place, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    for name in filter(None, listed):
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            _ = shutil.copy2(ROOT / name, target)
    for path in (place / "spec_math" / floor).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        _ = path.write_text(PLAIN.sub("", text), encoding="utf-8")
    return place


def tests_of(floor: str) -> list[str]:
    """Return the folder of a floor's tests, and the files that test things of every floor."""
    return [f"proofs_tests/{floor}", *SHARED_TESTS]


def tests_in_time(floor: str, place: Path, console: Console) -> dict[str, float]:
    """Run the floor's tests once, a few seconds each, and return those that pass, with their seconds."""
    kept = place / "in_time.json"
    with console.status(f"{floor}: which tests run without compilation, within a few seconds each"):
        command = [sys.executable, "-m", "pytest", "-n", "2", *PYTEST, *PATIENCE, *tests_of(floor)]
        environment = {**ENVIRONMENT, "PATIENCE_FILE": str(kept)}
        ran = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if not kept.is_file() or ran.returncode not in (0, 1):
        raise RuntimeError(f"the tests of {floor} could not be run:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    console.print(f"{floor}: {ran.stdout.strip().splitlines()[-1]}")
    told = json.loads(kept.read_text(encoding="utf-8"))
    if told["failed"]:
        raise RuntimeError(f"without any mutant these tests of {floor} fail: {', '.join(told['failed'])}")
    return told["passed"]


def configure(floor: str, place: Path, allowed: dict[str, float]) -> None:
    """Tell mutmut what to mutate and which tests to run."""
    lists = {
        "source_paths": ["spec_math"],
        "only_mutate": [f"spec_math/{floor}/*.py"],
        "also_copy": [name for name in COPIED if (place / name).exists()],
        "do_not_mutate_patterns": [r"^\s*raise "],
        "pytest_add_cli_args": ["-n", "0", *PYTEST, *PATIENCE],
        "pytest_add_cli_args_test_selection": tests_of(floor),
    }
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lists.items())
    with (place / "pyproject.toml").open("a", encoding="utf-8") as file:
        _ = file.write(f"\n[tool.mutmut]\n{FIXED}{lines}")
    _ = (place / "proofs_tests" / "mutants" / "allowed.json").write_text(json.dumps(allowed), encoding="utf-8")


def generated(place: Path) -> list[str]:
    """Write all mutants and return their names."""
    code = (
        "from mutmut import __main__ as m; m.makedirs(m.Path('mutants'), exist_ok=True); m.copy_src_dir(); "
        "m.copy_also_copy_files(); m.setup_source_paths(); m.create_mutants(2)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    names = [name for file in sorted((place / "mutants").rglob("*.meta")) for name in _outcomes(file)]
    if ran.returncode or not names:
        raise RuntimeError(f"no mutants were made:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return sorted(names)


def sampled(names: list[str], place: Path, asked: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """Draw a sample; those that are the same program by a stated rule are set apart, with the rule."""
    drawn = named(names, asked.only) if asked.only else drawn_by_salt(names, asked.sample, asked.salt)
    differences = equivalent.differences(drawn, place)
    same = {name: rule for name in drawn if (rule := equivalent.rule(differences[name]))}
    return [name for name in drawn if name not in same], same


def named(names: list[str], file: Path) -> list[str]:
    """Return the names that stand in a file, in any text; a name that another version of the code had is passed over.

    A name counts the mutants of its function: where that has changed, it may be another mutant by now.
    """
    there = set(MUTANT.findall(file.read_text(encoding="utf-8")))
    return [name for name in names if name in there]


def drawn_by_salt(names: list[str], size: int, salt: str) -> list[str]:
    """Return the `size` names with the least salted hash: a change of the code keeps all but the mutants it touches."""
    return sorted(names, key=lambda name: sha256(f"{salt} {name}".encode()).digest())[:size]


def run(names: list[str], place: Path, minutes: float, console: Console) -> None:
    """Judge the mutants until the time is over."""
    log, started = place / "mutmut.log", time.monotonic()
    with console.status(f"{place.name}: {len(names)} mutants, at most {minutes:g} minutes"), log.open("wb") as file:
        command = [sys.executable, "proofs_tests/mutants/judge.py"]
        process = subprocess.Popen(
            command, cwd=place, env=ENVIRONMENT, stdin=PIPE, stdout=file, stderr=file, start_new_session=True
        )
        try:
            _ = process.communicate("\n".join(names).encode(), timeout=60 * minutes)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
    console.print(f"{place.name}: {(time.monotonic() - started) / 60:.1f} minutes")


def results(names: list[str], place: Path) -> dict[str, str]:
    """Return what became of each mutant that was run."""
    codes = {name: code for file in (place / "mutants").rglob("*.meta") for name, code in _outcomes(file).items()}
    return {
        name: OUTCOME.get(code, "killed" if code > 0 else "too slow")
        for name in names
        if (code := codes[name]) is not None
    }


def survivors(found: dict[str, str], same: dict[str, str], place: Path, console: Console) -> int:
    """Write down each mutant that no test rejected, with its difference; return how many have no reason to live."""
    shown = equivalent.differences([name for name, kind in found.items() if kind in ("survived", "no test")], place)
    known = equivalent.reasons(shown)
    bare = [name for name in shown if name not in known]
    report = place.parent / f"{place.name}.txt"
    text = "".join(f"## {name}: {found[name]}\n{shown[name]}\n" for name in bare)
    text += "".join(f"## {name}: {reason}\n{shown[name]}\n" for name, reason in known.items())
    _ = report.write_text(text + "".join(f"## {name}: {rule}\n" for name, rule in same.items()), encoding="utf-8")
    console.print(f"{place.name}: {len(shown)} survivors, {len(bare)} of them unexplained, listed in {report}")
    return len(bare)


def _outcomes(file: Path) -> dict[str, int | None]:
    return json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]


if __name__ == "__main__":
    sys.exit(main())
