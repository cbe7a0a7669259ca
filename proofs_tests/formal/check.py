"""Check of the Rocq files of a folder: they compile, and no theorem rests on an axiom.

`python -m proofs_tests.formal.check` (`make formal`) compiles proofs_tests/formal/*.v in build/formal, prints what each
theorem assumes, and exits with 1 where anything is refused. `--ready` only says whether Rocq is installed (else 3).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from shutil import rmtree, which
from time import monotonic

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "formal"
LINES, TOTAL, SECONDS = 400, 4_000, 300.0
"""The longest file, all files together, and the seconds that one check may take."""

NEEDED = "Rocq is needed: Debian 12's coq and libcoq-mathcomp-algebra, or opam's coq 8.16 and coq-mathcomp-algebra 1.15"
# Names of MathComp 1 that version 2 lacks.
TRIAL = "From mathcomp Require Import all_ssreflect all_algebra.\nCheck Num.Theory.ler_add.\n"
THEOREM = ("Theorem ", "Corollary ")
CLOSED = "Closed under the global context"
UNPROVED = re.compile(r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?)\b")


def bare(source: str) -> str:
    """Blank out comments, which may be nested, and strings; every other character stays at its place."""
    kept: list[str] = []
    depth = last = 0
    for token in re.finditer(r'"[^"]*"|\(\*|\*\)', source):
        between = source[last : token.start()]
        kept += [re.sub(r"\S", " ", between) if depth else between, re.sub(r"\S", " ", token[0])]
        depth = max(0, depth + (token[0] == "(*") - (token[0] == "*)"))
        last = token.end()
    return "".join(kept) + (source[last:] if not depth else "")


def sentences(source: str) -> list[tuple[str, str]]:
    """Split a file into its sentences, each up to its full stop: (the comment in front of it, text).

    >>> sentences("(* One. *) Definition one := 1. Check (f one).+1.")[0]
    ('(* One. *)', 'Definition one := 1.')
    """
    plain, found, start = bare(source), list[tuple[str, str]](), 0
    for stop in re.finditer(r"\.(?=\s|\Z)", plain):
        begin = start + len(plain[start : stop.end()]) - len(plain[start : stop.end()].lstrip())
        found.append((source[start:begin].strip(), source[begin : stop.end()]))
        start = stop.end()
    return found


def theorems(source: str) -> list[str]:
    """Return the names of the theorems of a file; a lemma is no theorem."""
    return [text.split()[1].rstrip(":") for _, text in sentences(source) if text.startswith(THEOREM)]


def faults_of_text(sources: dict[str, str]) -> list[str]:
    """Name what can be refused without Rocq: files that are too long, and words that leave something unproved."""
    sizes = {name: len(source.splitlines()) for name, source in sources.items()}
    found = [f"{name} has {size} lines, more than {LINES}" for name, size in sizes.items() if size > LINES]
    if sum(sizes.values()) > TOTAL:
        found.append(f"all files have {sum(sizes.values())} lines, more than {TOTAL}")
    if not any(map(theorems, sources.values())):
        found.append("there is no theorem")
    for name, source in sources.items():
        found += [f"{name} says {word}" for word in dict.fromkeys(UNPROVED.findall(bare(source)))]
    return found


def rocq(tool: str, *arguments: str, build: Path, until: float) -> tuple[bool, str]:
    """Run a tool of Rocq in the build folder; return whether it succeeded, and all that it said."""
    options = ("-q", "-w", "none") if tool == "coqc" else ()
    try:
        command, left = [tool, *options, "-Q", ".", "spec", *arguments], max(1.0, until - monotonic())
        run = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False, timeout=left)
    except subprocess.TimeoutExpired:
        return False, f"{tool} was stopped: the check may take {SECONDS:.0f} seconds"
    return run.returncode == 0, (run.stdout + run.stderr * (run.returncode != 0)).strip()


def assumed(build: Path, named: Iterable[tuple[str, str]], until: float) -> tuple[bool, str]:
    """Ask Rocq what each theorem (file, name) rests on."""
    asked = list(named)
    lines = [f"From spec Require {file}." for file in dict.fromkeys(file for file, _ in asked)]
    for file, name in asked:
        lines += [f'Goal True. idtac "@{file}.{name}:". Abort.', f"Print Assumptions spec.{file}.{name}."]
    _ = (build / "_assumed.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done, said = rocq("coqc", "_assumed.v", build=build, until=until)
    return done, said.removeprefix("@")


def check(folder: Path, build: Path) -> tuple[list[str], list[str]]:
    """Compile the files of a folder; return what each theorem assumes, a line each, and the faults: none is a pass."""
    until = monotonic() + SECONDS
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.v"))}
    if faults := faults_of_text(sources):
        return [], faults
    rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    for name, source in sources.items():
        _ = (build / name).write_text(source, encoding="utf-8")
    done, ordered = rocq("coqdep", "-sort", *sources, build=build, until=until)
    if not done:
        return [], [ordered]
    for name in ordered.split():
        done, said = rocq("coqc", name, build=build, until=until)
        if not done:
            return [], [f"{name} does not compile: {said}"]
    named = [(name.removesuffix(".v"), theorem) for name in sources for theorem in theorems(sources[name])]
    done, said = assumed(build, named, until)
    answers = [" ".join(answer.split()) for answer in said.split("\n@")]
    closed = [f"{file}.{name}: {CLOSED}" for file, name in named]
    if not done or len(answers) != len(closed):
        return [], [f"what the theorems rest on is not known: {said}"]
    return answers, [answer for answer, wanted in zip(answers, closed, strict=True) if answer != wanted]


def ready() -> bool:
    """Say whether Rocq and its library MathComp, version 1, are installed."""
    if not (which("coqc") and which("coqdep")):
        return False
    with tempfile.TemporaryDirectory() as folder:
        _ = (Path(folder) / "trial.v").write_text(TRIAL, encoding="utf-8")
        return rocq("coqc", "trial.v", build=Path(folder), until=monotonic() + SECONDS)[0]


def main() -> int:
    """Check the files beside this one, or say whether they can be checked here."""
    parser = argparse.ArgumentParser(description=__doc__)
    _ = parser.add_argument("--ready", action="store_true", help="only say by the exit code whether Rocq is there")
    if not ready():
        _ = sys.stdout.write(NEEDED + "\n")
        return 3
    if parser.parse_args().ready:
        return 0
    answers, faults = check(HERE, BUILD)
    said = [*answers, *(f"refused: {fault}" for fault in faults)]
    said += [] if faults else [f"{len(answers)} theorems, each without an axiom"]
    _ = sys.stdout.write("\n".join(said) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
