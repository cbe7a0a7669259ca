"""Latencies of the calls that a block makes, measured or assumed, and the speed-up at these latencies.

A block calls the target once on its nodes and one token more, the drafter once a level, and the verifier once.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from spec_math.mean import Mean

CALLS = {"target": "a target call", "draft": "a draft step", "verify": "verification", "drafting": "drafting a block"}
"""Calls whose latency can be stated, in words."""


class Point(NamedTuple):
    """A latency at a size: tokens in a target call, texts in a draft step, verified nodes. Size 0: one number alone.

    `spread` is how far the true mean may lie from the stated one.
    """

    size: int
    mean: Fraction
    spread: Fraction = Fraction(0)


class UnmeasuredError(LookupError):
    """A shape needs a latency beyond the last measured point."""


Weights = Mapping[tuple[str, int], Fraction]
"""The latency of a block as a sum over stated points, (call, size) -> weight; every weight is at least 0."""

ASSUMED = {name: (Point(0, Fraction(mean)),) for name, mean in (("target", 1), ("draft", "0.05"), ("verify", "0.0005"))}


@dataclass(frozen=True)
class Costs:
    """Latencies in one unit: milliseconds, or calls of the target where none is named.

    calls: the points of each call of CALLS. A call with one point of size 0 is assumed: the target and the drafter then
    take `knee` tokens at no extra time and after that in proportion, `verify` is what each node adds. Other points are
    measured: between two of them a latency is interpolated linearly, so that it lies between theirs; outside of them it
    is not known. batch: the number of texts decoded at once, where all is assumed.

    >>> Costs().of_call(nodes=48, levels=6, widest=8)
    Fraction(331, 250)
    """

    calls: Mapping[str, tuple[Point, ...]] = field(default_factory=lambda: ASSUMED)
    knee: Fraction = Fraction(256)
    batch: int = 1
    unit: str = ""

    def weights(self, nodes: int, levels: int, widest: int) -> Weights:
        """Return the latency of a block as weights of the stated points.

        Raises:
            UnmeasuredError: a size lies outside of the measured points; the message names the call and the size.
        """
        sizes = {"target": (nodes + 1, 1), "draft": (widest, levels), "verify": (nodes, 1), "drafting": (1, 1)}
        found: dict[tuple[str, int], Fraction] = {}
        for call, points in self.calls.items():
            size, times = sizes[call]
            for point, weight in self._at(call, points, size) if nodes or call == "target" else ():
                found[call, point.size] = found.get((call, point.size), Fraction(0)) + times * weight
        return found

    def _at(self, call: str, points: tuple[Point, ...], size: int) -> list[tuple[Point, Fraction]]:
        if not points[0].size:
            return [(points[0], size * self._stretch(1) if call == "verify" else self._stretch(size))]
        sizes = [point.size for point in points]
        place = bisect_left(sizes, size)
        if place == len(sizes) or size < sizes[0]:
            raise UnmeasuredError(f"{CALLS[call]} is measured from size {sizes[0]} to {sizes[-1]}, not at {size}")
        if sizes[place] == size:
            return [(points[place], Fraction(1))]
        below, above = points[place - 1], points[place]
        share = Fraction(size - below.size, above.size - below.size)
        return [(below, 1 - share), (above, share)]

    def _stretch(self, size: int) -> Fraction:
        return max(Fraction(1), self.batch * size / self.knee)

    def _point(self, key: tuple[str, int]) -> Point:
        return next(point for point in self.calls[key[0]] if point.size == key[1])

    def latency(self, weights: Weights) -> Fraction:
        """Return the latency that weights of stated points add up to.

        >>> Costs().latency({("target", 0): Fraction(2)})
        Fraction(2, 1)
        """
        return sum((weight * self._point(key).mean for key, weight in weights.items()), Fraction(0))

    def spread(self, weights: Weights) -> Fraction:
        """Return how far a sum of latencies may lie from its stated value: weights may be negative here.

        >>> Costs().spread({("target", 0): Fraction(-2)})
        Fraction(0, 1)
        """
        return sum((abs(weight) * self._point(key).spread for key, weight in weights.items()), Fraction(0))

    def plain(self) -> Fraction:
        """Return the latency of the call that plain decoding makes for each token.

        >>> Costs().plain()
        Fraction(1, 1)
        """
        return self.latency(self.weights(0, 0, 0))

    def of_call(self, nodes: int, levels: int, widest: int) -> Fraction:
        """Return the latency of one block, in plain calls.

        Raises:
            UnmeasuredError: as `weights`.
        """
        return self.latency(self.weights(nodes, levels, widest)) / self.plain()

    def speed_up(self, tokens: Any, nodes: int, levels: int, widest: int) -> Any:
        """Return the times that decoding is faster than one plain call a token.

        >>> parsed("draft=0,verify=0").speed_up(Fraction(2), nodes=8, levels=4, widest=2)
        Fraction(2, 1)
        """
        return tokens / self.of_call(nodes, levels, widest)

    def faster(self, tokens: Mean, nodes: int, levels: int, widest: int) -> Mean:
        """Return the speed-up with the interval that the tokens and the spreads of the latencies leave it.

        The speed-up τ·t/(α·t + r), t the latency of a plain call, rises in τ and t and falls in every other latency.
        """
        block, plain = self.weights(nodes, levels, widest), self.weights(0, 0, 0)

        def ratio(side: int) -> float:
            points = {key: self._point(key) for key in {*block, *plain}}
            at = {key: one.mean + (side if key in plain else -side) * one.spread for key, one in points.items()}
            return float(sum(w * at[key] for key, w in plain.items()) / sum(w * at[key] for key, w in block.items()))

        middle, (low, high) = tokens.scaled_to(tokens.value * ratio(0)), tokens.interval
        if not tokens.samples and ratio(-1) == ratio(1):
            return middle
        ends = low * ratio(-1), high * ratio(1)
        return Mean(middle.value, middle.error, tokens.samples or 1, *ends, tokens.confidence or 1.0)

    def __str__(self) -> str:
        """Say what is measured or assumed, in a sentence."""
        shown = {
            call: ", ".join(_written(one) + (f" at {one.size:,}" if one.size else "") for one in points)
            for call, points in self.calls.items()
        }
        said = "; ".join(f"{CALLS[call]} {listed}" for call, listed in shown.items())
        missing = " and ".join(CALLS[call] for call in CALLS if call not in shown and self.unit)
        free = f" Not stated, and counted as 0: {missing}." if missing else ""
        return (
            f"Costs in {self.unit or 'target calls'}: {said}. A single number for the target or the draft holds up to "
            f"{float(self.knee):g} tokens, one for verification is that of a node (batch {self.batch}).{free}"
        )


def _written(point: Point) -> str:
    return f"{float(point.mean):g}" + (f" ± {float(point.spread):g}" if point.spread else "")


FORM = "target=1:20ms,8:21ms,32:25ms; draft=1:1.0ms,4:1.1ms; verify=0.02ms"
_NUMBER = r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)\s*(ms|us|µs|s)?"
_VALUE = re.compile(rf"(?:(\d+)\s*:)?\s*{_NUMBER}(?:\s*(?:±|\+/?-)\s*{_NUMBER})?")
_MILLISECONDS = {None: 1, "ms": 1, "s": 1000, "us": Fraction(1, 1000), "µs": Fraction(1, 1000)}


def parsed(text: str, batch: int = 1) -> Costs:
    """Read costs, a CSV file or one line such as FORM; without `target`, numbers are in calls of the target.

    What is left out keeps its default; where `target` is stated, `draft` must be, and what else is left out counts 0.

    Raises:
        ValueError: another name, a number that is negative or none, a size twice, units that are mixed or missing.
        OSError: there is no such file.

    >>> parsed("draft=0.1", 4).calls["draft"][0].mean
    Fraction(1, 10)
    >>> parsed("target=1:20ms,9:24ms; draft=1ms").of_call(nodes=4, levels=4, widest=1)
    Fraction(13, 10)
    """
    if batch < 1:
        raise ValueError(f"--batch must be at least 1; got {batch}")
    found: dict[str, list[Point]] = {}
    units: set[str] = set()
    for name, value in _rows(Path(text)) if text.strip().endswith(".csv") else _parts(text):
        point, unit = _point(name, value)
        units |= unit if name != "knee" else set()
        sizes = [other.size for other in found.setdefault(name, [])]
        if point.size in sizes or (sizes and 0 in (point.size, *sizes)):
            raise ValueError(f"--costs: {name} has two numbers for one size; write each as SIZE:LATENCY, {FORM!r}")
        found[name].append(point)
    knee = found.pop("knee", [Point(0, Fraction(256))])[0].mean
    calls = {name: tuple(sorted(found[name])) for name in CALLS if name in found}
    first, sized = calls.get("target", ASSUMED["target"])[0], any(one[0].size for one in calls.values())
    for wrong, said in (
        (knee < 1, f"knee must be at least 1 token; got {float(knee):g}"),
        (len(units) > 1, "give every latency a unit, or none"),
        ("ms" in units and "target" not in calls, "state the target's latency too, such as target=20ms"),
        ("target" in calls and "draft" not in calls, "the draft's latency is not stated; add draft=LATENCY"),
        (first.size > 1, f"target starts at size {first.size}; plain decoding needs target=1:LATENCY"),
        (first.mean <= first.spread, f"a plain call must take longer than its spread; got {_written(first)}"),
        (batch > 1 and sized, "measured latencies have a batch; leave --batch out"),
    ):
        if wrong:
            raise ValueError(f"--costs: {said}")
    return Costs(calls if "target" in calls else {**ASSUMED, **calls}, knee, batch, *units & {"ms"})


_COLUMNS = "call", "size", "latency", "spread"


def _parts(text: str) -> Iterable[tuple[str, str]]:
    """Yield (name, value); a value without a name goes on with the last one."""
    name = ""
    for part in filter(None, (part.strip() for part in re.split("[;,]", text))):
        before, sign, value = part.partition("=")
        name = before.strip() if sign or not name else name
        yield name, (value if sign else part).strip()


def _rows(path: Path) -> Iterable[tuple[str, str]]:
    """Yield (name, value) of a CSV file with the columns call, size, latency and perhaps spread."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, skipinitialspace=True)
        if not {"call", "size", "latency"} <= {*(reader.fieldnames or ())}:
            raise ValueError(f"--costs {path}: the first line names the columns call,size,latency and perhaps spread")
        for row in reader:
            name, size, latency, spread = ((row.get(key) or "").strip() for key in _COLUMNS)
            yield name, (f"{size}:" if size else "") + latency + (f" ± {spread}" if spread else "")


def _point(name: str, value: str) -> tuple[Point, set[str]]:
    if name not in (*CALLS, "knee"):
        raise ValueError(f"--costs takes {', '.join(CALLS)} and knee, such as {FORM!r}; got {name!r}")
    read = _VALUE.fullmatch(value)
    if read is None:
        raise ValueError(f"--costs: {name} takes LATENCY or SIZE:LATENCY, at least 0, such as {FORM!r}; got {value!r}")
    size, mean, unit, spread, other = read.groups()
    if size == "0":
        raise ValueError(f"--costs: {name}: sizes start at 1; got {value!r}")
    reach = Fraction(spread or 0) * _MILLISECONDS[other or unit]
    point = Point(int(size or 0), Fraction(mean) * _MILLISECONDS[unit], reach)
    return point, {"ms" if unit else ""} if point.mean or point.spread else set()
