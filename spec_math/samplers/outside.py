"""Samplers in any language: a process that answers JSON lines, or a function of a shared library, given its uniforms.

A line asks {"vocabulary": V, "drafted": L, "target": L + 1 rows, "draft": L rows, "drafts": tokens, "uniforms": L + 1
numbers, "target_logits": rows, "draft_logits": rows}, in this order. The answer is {"tokens": emitted tokens}. There is
a uniform in [0, 1) for each test of a draft, and one for the last token. For k drafts of one position rows are alike.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import select
import shlex
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.chance import Coin
from spec_math.pathwise.atom import ExploreError
from spec_math.samplers.judgement import Judgement
from spec_math.verdict import Reason, Undecided

Answer = tuple[int, ...]
Decide = Callable[[Sequence[Sequence[float]]], list[Answer]]
"""The tokens that a sampler emits for each list of uniforms."""

Intervals = list[tuple[Fraction, float]]
"""(mass, a uniform within) of the intervals of a uniform on which a sampler does the same, in order."""

PATIENCE = 60.0
"""Seconds that an answer may take."""

LINES = 16
"""Questions that are written before their answers are read: a pipe holds them."""

CELLS = 32
"""Cells of a uniform whose ends are looked at first: what answers alike at both ends may not hide another answer."""

PROBES, CHECKS, ROUNDS = 6, 160, 4
"""Lists of further uniforms by which answers are compared, and random points at which intervals are checked; a point at
which they fail is a further list, and intervals that fail so often are refused."""

RUNS, MOST_RUNS = 2_000, 200_000
"""Random runs that a verdict is compared with: at least, and at most."""

MOST = 200
"""Intervals of one uniform at most."""

NO_CHANCE = -10_000.0
"""The logit of a token of probability 0."""

BISECTED = (
    "The intervals of {} on which the program answers alike were found by bisection. At least 2,000 runs on random "
    "drafts and uniforms agree with them. A lighter interval can go unseen where both ends of one of 32 cells are "
    "answered alike."
)

DIGITS = {"float64": 53, "float32": 24}
"""Binary digits of the uniforms, by the type of the distributions."""


class Program:
    """A process that answers lines.

    Raises:
        ValueError: it cannot be started.
        ExploreError: it ends, is silent for a minute, or answers something else.

    >>> echo = Program([sys.executable, "-c", "for _ in iter(input, ''): print('{\\"tokens\\": [1]}', flush=True)"])
    >>> echo(["{}" + chr(10)] * 2)
    [(1,), (1,)]
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._name, self._rest = shlex.join(command), b""
        try:
            self._process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise ValueError(f"{self._name} does not start: {error}") from error

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self._process.kill()
            self._process.communicate()

    def __call__(self, lines: Sequence[str]) -> list[Answer]:
        """Return the answers, in order."""
        found: list[Answer] = []
        for at in range(0, len(lines), LINES):
            part = lines[at : at + LINES]
            self._write("".join(part).encode())
            found += [self._answer() for _ in part]
        return found

    def _write(self, lines: bytes) -> None:
        with suppress(BrokenPipeError):  # a process that ended is told by its missing answer
            while lines and self._process.stdin is not None:
                lines = lines[os.write(self._process.stdin.fileno(), lines) :]

    def _answer(self) -> Answer:
        while b"\n" not in self._rest and self._process.stdout is not None:
            pipe = self._process.stdout.fileno()
            if not select.select([pipe], [], [], PATIENCE)[0]:
                raise ExploreError(
                    f"{self._name} wrote nothing for {PATIENCE:g} s: write one line for each line that is read, and "
                    "flush the output after it"
                )
            read = os.read(pipe, 2**16)
            if not read:
                raise ExploreError(f"{self._name} ended with exit code {self._process.wait()}")
            self._rest += read
        line, self._rest = self._rest.split(b"\n", 1)
        with suppress(ValueError, TypeError, KeyError):
            tokens = json.loads(line)["tokens"]
            if all(type(token) is int for token in tokens):
                return tuple(tokens)
        told = line.decode(errors="replace")[:80]
        raise ExploreError(f'{self._name} answered {told!r}; an answer is a line such as {{"tokens": [0, 1]}}')


class Bisected:
    """A sampler that is given its uniforms, followed on uniforms k/2^digits.

    The intervals of a uniform on which the sampler does the same are found by bisection, and checked at random points.
    An interval can go unseen where both ends of one of 32 cells of a uniform answer alike.

    Raises:
        ExploreError: a uniform has more than 200 intervals, or its thresholds change with the uniforms after it.

    >>> def coin_of(lines):  # emits its draft where the first uniform is below 1/4
    ...     return [(0,) if json.loads(line)["uniforms"][0] < 0.25 else (1,) for line in lines]
    >>> from spec_math import law
    >>> mine = Bisected(coin_of, "mine", 53)
    >>> law(lambda coin: mine.verifier(coin, (0,), [[0.5, 0.5]], [[0.5, 0.5]]))
    {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    """

    def __init__(self, ask: Callable[[Sequence[str]], list[Answer]], name: str, digits: int) -> None:
        self._ask, self._digits = ask, digits
        self._known: dict[str, dict[tuple[float, ...], Intervals]] = {}
        self._emitted: dict[tuple[str, tuple[float, ...]], Answer] = {}

        def verifier(coin: Coin, tokens: Sequence[int], target: Any, draft: Any) -> Answer:
            return self._followed(tokens, (target, draft), lambda _, found: coin.draw([mass for mass, _ in found]))

        verifier.__name__ = verifier.__qualname__ = name
        self.verifier = verifier
        """The sampler as a verifier with a coin, which is asked one question a uniform."""

    def _asked(self, tokens: Sequence[int], laws: tuple[Any, Any]) -> tuple[str, Decide]:
        drafts = [int(token) for token in tokens]
        rows = [np.atleast_2d(np.array(one, dtype=np.float64)).tolist() for one in laws]
        for side, number in zip(rows, (len(drafts) + 1, len(drafts)), strict=True):
            side[:] = side * number if len(side) == 1 else side
        given = {"vocabulary": len(rows[0][0]), "drafted": len(drafts), "target": rows[0], "draft": rows[1]}
        logits = [[[math.log(mass) if mass else NO_CHANCE for mass in row] for row in side] for side in rows]
        head = json.dumps({**given, "drafts": drafts})[:-1]
        tail = json.dumps({"target_logits": logits[0], "draft_logits": logits[1]})[1:] + "\n"

        def answers(points: Sequence[Sequence[float]]) -> list[Answer]:
            return self._ask([f'{head}, "uniforms": {list(point)}, {tail}' for point in points])

        return head, answers

    def _followed(
        self, tokens: Sequence[int], laws: tuple[Any, Any], choose: Callable[[int, Intervals], int]
    ) -> Answer:
        """Return what the sampler emits where each uniform lies in the interval that is chosen at its place."""
        head, answers = self._asked(tokens, laws)
        intervals, taken, number = self._known.setdefault(head, {}), tuple[float, ...](), len(tokens) + 1
        while len(taken) < number:
            if taken not in intervals:
                intervals[taken] = _intervals(answers, taken, number, self._digits)
            found = intervals[taken]
            taken = (*taken, found[choose(len(taken), found) if len(found) > 1 else 0][1])
        if (head, taken) not in self._emitted:
            self._emitted[head, taken] = answers([taken])[0]
        return self._emitted[head, taken]

    def contradicted(self, found: Judgement, runs: int) -> bool:
        """Say whether one of so many runs, on random drafts and uniforms, emits what the intervals do not say."""
        case, points = found.case, dict[Answer, list[list[float]]]()
        laws: Any = tuple(map(found.subject.numbers.rows, case.rows))
        for seed in range(runs):
            numbers = _scattered(2 * len(case.drafted_from) + 1, 1 << self._digits, -1 - seed)
            drafts = tuple(map(_drawn, case.drafted_from, numbers))
            points.setdefault(drafts, []).append(numbers[len(drafts) :])
        return any(
            emitted != self._followed(drafts, laws, partial(_interval_of, point))
            for drafts, own in points.items()
            for point, emitted in zip(own, self._asked(drafts, laws)[1](own), strict=True)
        )


def confirmed(found: Judgement, sampler: Bisected) -> Judgement:
    """Leave a verdict open where random runs contradict the intervals that it rests on, or where they cannot decide.

    A right sampler is not called lossy for an interval that went unseen: it had at least the mass of the distance d, so
    that each of 20/d random runs meets it with chance d, and all of them miss it with chance e^−20.
    """
    if isinstance(found.verdict, Undecided):
        return found
    distance = float(getattr(found.verdict, "total_variation", None) or 0.0)
    runs, why = max(RUNS, ceil(20 / distance)) if distance else RUNS, ""
    if runs > MOST_RUNS:
        why = f"it seems lossy by {distance:.2g} in total variation, which {MOST_RUNS:,} random runs cannot confirm"
    elif sampler.contradicted(found, runs):
        why = f"{runs:,} random runs show an interval of a uniform that bisection did not see"
    return replace(found, verdict=Undecided(Reason.NOT_JUDGED, why)) if why else found


def _drawn(row: Sequence[Fraction], uniform: float) -> int:
    return bisect_right(list(accumulate(row)), uniform)


def _interval_of(point: Sequence[float], level: int, found: Intervals) -> int:
    return bisect_right([float(end) for end in accumulate(mass for mass, _ in found)], point[level])


def _intervals(decide: Decide, taken: tuple[float, ...], number: int, digits: int) -> Intervals:
    """Return (mass, a uniform within) of the intervals of the next uniform, after those that were taken."""
    cells, left = 1 << digits, number - len(taken) - 1
    places = {*(cells // CELLS * cell for cell in range(CELLS)), cells - 1}
    probes = [[0.0] * left, [1 - 1 / cells] * left, *(_scattered(left, cells, seed) for seed in range(PROBES - 2))]
    probes = probes if left else [[]]
    for turn in range(1, ROUNDS + 1):
        points = [_scattered(left + 1, cells, turn * CHECKS + seed) for seed in range(CHECKS)]
        ends = [0, *_changes(decide, taken, sorted(places), probes, cells), cells]
        middles = [(low + high) // 2 / cells for low, high in pairwise(ends)]
        stand = [middles[sum(end <= first * cells for end in ends) - 1] for first, *_ in points]
        told = decide([(*taken, *point) for point in points])
        same = decide([(*taken, middle, *point[1:]) for middle, point in zip(stand, points, strict=True)])
        wrong = next((point for point, one, other in zip(points, told, same, strict=True) if one != other), None)
        if wrong is None:
            masses = [Fraction(high - low, cells) for low, high in pairwise(ends)]
            return list(zip(masses, middles, strict=True))
        places.add(int(wrong[0] * cells))
        probes.append(wrong[1:])
    raise ExploreError(
        f"the thresholds of uniform {len(taken) + 1} change with the uniforms after it: the sampler seems to compute "
        "with a sum or a product of uniforms, which bisection cannot follow"
    )


def _changes(
    decide: Decide, taken: tuple[float, ...], places: Sequence[int], probes: Sequence[list[float]], cells: int
) -> list[int]:
    """Return the places on the grid at which the answers to the probes change, found by bisection."""
    found: dict[int, tuple[Answer, ...]] = {}

    def look(new: Sequence[int]) -> None:
        told = decide([(*taken, place / cells, *rest) for place in new for rest in probes])
        size = len(probes)
        found.update((place, tuple(told[at * size : (at + 1) * size])) for at, place in enumerate(new))

    look(places)
    starts, pending = list[int](), list(pairwise(places))
    while pending := [(low, high) for low, high in pending if found[low] != found[high]]:
        starts += [high for low, high in pending if high - low == 1]
        pending = [(low, high) for low, high in pending if high - low > 1]
        look([(low + high) // 2 for low, high in pending])
        pending = [part for low, high in pending for part in pairwise((low, (low + high) // 2, high))]
        if len(starts) + len(pending) > MOST:
            raise ExploreError(
                f"uniform {len(taken) + 1} has more than {MOST} intervals of different answers: the sampler seems to "
                "compute with a sum or a product of uniforms, which bisection cannot follow"
            )
    return sorted(starts)


def _scattered(number: int, cells: int, seed: int) -> list[float]:
    """Return so many numbers in [0, 1) on the grid: a hash, as random numbers are followed in an audit."""
    hashed = (hashlib.blake2b(f"{seed} {at}".encode(), digest_size=8).digest() for at in range(number))
    return [int.from_bytes(one, "big") * cells // 2**64 / cells for one in hashed]


def program(command: str | None, place: str | None, kind: str) -> Bisected:
    """Return a command, or a function of a shared library as FILE:NAME, as a sampler on numbers of a type.

    Raises:
        ValueError: both are given, the type is not float64 or float32, or the program cannot be started.

    >>> program("no-such-program", None, "float64")
    Traceback (most recent call last):
    ValueError: no-such-program does not start: [Errno 2] No such file or directory: 'no-such-program'
    """
    if kind not in DIGITS:
        raise ValueError(f"programs are given float64 or float32; got --numbers {kind}")
    if place is not None and command is not None:
        raise ValueError("--command and --library name one sampler each; give one of them")
    name = str(command or place)
    ask = Program(shlex.split(name) if place is None else _library(place, kind))
    return Bisected(ask, name, DIGITS[kind])


def _library(place: str, kind: str) -> list[str]:
    """Return the command of a process that calls a function of a shared library, FILE:NAME, in C's convention.

    int NAME(const double *target, const double *draft, const int *drafts, const double *uniforms, int vocabulary, int
    drafted, int *emitted) returns the number of tokens that it wrote; float in place of double where `kind` is float32.

    Raises:
        ValueError: it is not FILE:NAME, or there is no such file.
    """
    file, _, name = place.rpartition(":")
    if not file or not Path(file).is_file():
        raise ValueError(f"--library takes FILE:NAME, such as mine.so:verify; got {place!r}, and no such file is there")
    return [sys.executable, "-m", __name__, str(Path(file).resolve()), name, kind]


def _serve(file: str, name: str, kind: str) -> None:
    """Answer lines by a function of a shared library."""
    function, number = getattr(ctypes.CDLL(file), name), ctypes.c_float if kind == "float32" else ctypes.c_double
    for line in sys.stdin:
        asked = json.loads(line)
        size, drafts = len(asked["target"][0]), asked["drafts"]
        flat = [[mass for row in asked[role] for mass in row] for role in ("target", "draft")]
        masses, uniforms = [(number * len(one))(*one) for one in flat], asked["uniforms"]
        emitted = (ctypes.c_int * (len(drafts) + 1))()
        given = (ctypes.c_int * len(drafts))(*drafts), (number * len(uniforms))(*uniforms), size, len(drafts), emitted
        told = function(*masses, *given)
        answer = {"tokens": emitted[:told]} if 0 <= told <= len(drafts) + 1 else {"returned": told}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
