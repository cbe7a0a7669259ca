"""Rocq on the files of this folder: they are compiled once a session, and terms are computed in fractions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from shutil import copy, which

from proofs_tests.formal.check import ready

FORMAL = Path(__file__).parent
COMPILER, OPTIONS = "coqc", ("-w", "none", "-Q", ".", "spec")
HEADER = """From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect.
From spec Require Import {}.
Set Printing Width 1000000.
Set Printing Depth 1000000.
Open Scope Z_scope.
"""


def installed() -> bool:
    """Say whether Rocq can be run here."""
    return which(COMPILER) is not None and ready()


def run(folder: Path, *command: str) -> str:
    """Run a command of Rocq in a folder; return what it prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChildProcessError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def source(name: str) -> Path:
    """Return the file of a module: a theory of this folder, or what only computes, in the folder below it."""
    here = FORMAL / f"{name}.v"
    return here if here.is_file() else FORMAL / "computed" / here.name


def needed(name: str, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the files that a file of this folder stands on, each behind those that it needs, and itself."""
    for line in re.findall(r"From spec Require Import ([\w\s]+)\.", source(name).read_text(encoding="utf-8")):
        for other in line.split():
            known = known if other in known else needed(other, known)
    return (*known, name)


@contextmanager
def alone(folder: Path, name: str) -> Generator[None]:
    """Keep other processes of tests from the same work in a folder that they share."""
    import fcntl

    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def definitions(folder: Path, names: Iterable[str]) -> Path:
    """Compile the definitions and statements that some files need in a folder, once; proofs are not read.

    What a program computes depends on definitions alone.
    """
    folder.mkdir(exist_ok=True)
    for name in dict.fromkeys(file for wanted in names for file in needed(wanted)):
        with alone(folder, name):
            if not (folder / f"{name}.vos").exists():
                _ = copy(source(name), folder)
                _ = run(folder, COMPILER, "-vos", *OPTIONS, f"{name}.v")
    return folder


def values(folder: Path, module: str, terms: Iterable[str]) -> list[list[Fraction]]:
    """Compute terms of a compiled module, each a list of fractions, in one run for all processes of tests."""
    name, lines = f"asked_of_{module}", [f"Eval vm_compute in shown ({term})." for term in terms]
    answer = folder / f"{name}.printed"
    with alone(folder, name):
        if not answer.exists():
            header = HEADER.format(" ".join(dict.fromkeys(["instances", module])))
            _ = (folder / f"{name}.v").write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
            _ = answer.write_text(run(folder, COMPILER, "-vos", *OPTIONS, f"{name}.v"), encoding="utf-8")
    printed = answer.read_text(encoding="utf-8")
    found = [
        [Fraction(int(top), int(bottom)) for top, bottom in re.findall(r"\((-?\d+), (\d+)\)", shown)]
        for shown in re.findall(r"= (.*?)\s*: seq \(Z \* Z\)", printed, re.DOTALL)
    ]
    if len(found) != len(lines):
        raise ChildProcessError(f"{len(lines)} terms were asked for, and {len(found)} values came:\n{printed[:2000]}")
    return found


def fraction(value: Fraction) -> str:
    """Write a fraction."""
    return f"(Qmake ({value.numerator}) {value.denominator})"


def masses(values: Iterable[Fraction]) -> str:
    """Write a list of fractions."""
    return f"[:: {'; '.join(map(fraction, values))}]"


def tokens(values: Iterable[int]) -> str:
    """Write a list of tokens."""
    return f"[:: {'; '.join(f'{value}%nat' for value in values)}]"


def table(rows: Iterable[tuple[Sequence[int], str]]) -> str:
    """Write a table: prefixes, each with what is already written."""
    return f"[:: {'; '.join(f'({tokens(prefix)}, {row})' for prefix, row in rows)}]"
