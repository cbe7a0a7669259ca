"""Lossy rules over their parameters, on both embedded defaults or on files of laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.files.law_files import open_laws
from spec_math.lossy import RULES, Rule
from spec_math.lossy.options import share
from spec_math.result import Result
from spec_math.studies.blocks.models import BlockModels
from spec_math.studies.frontier.regime import defaults, laws_after
from spec_math.studies.lossy.growth import growth_table
from spec_math.studies.lossy.measure import Point, points_of
from spec_math.studies.lossy.table import Source, result_of
from spec_math.studies.positions.stream import from_files
from spec_math.studies.progress import Progress

Pair = tuple[Any, Any]
"""The laws of target and draft, [V] each."""

POSITIONS = 24
"""Positions of each embedded default that are looked at unless more are asked for."""


@dataclass(frozen=True)
class LossyRequest:
    """Two files of laws, or none for the embedded defaults; some of the rules, or all; the bias to compare at."""

    target: str | None = None
    draft: str | None = None
    logits: bool = False
    k: int = 2
    rules: tuple[str, ...] = ()
    bias: str = "0.05"
    length: int = 10
    positions: int = POSITIONS


def study(request: LossyRequest, progress: Progress) -> Result:
    """Measure every rule at every value of its parameter, beside the frontier of its own drafts.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(LossyRequest(target="t.npy"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    rules = named(request.rules)
    result = measured(_laws(request), request, progress)
    grown = growth_table([rule for rule in rules if not rule.several])
    return replace(result, tables=(*result.tables, *grown))


def measured(laws: Sequence[tuple[str, Sequence[Pair]]], request: LossyRequest, progress: Progress) -> Result:
    """Return what the rules of a request do on pairs of laws [V], by the names of their sources.

    Raises:
        ValueError, TypeError: bad input.

    >>> pair = [0.25, 0.75], [0.5, 0.5]
    >>> found = measured([("a pair", [pair])], LossyRequest(rules=("ensemble",)), lambda what, steps: lambda done: None)
    >>> [table.name for table in found.tables]
    ['lossy', 'at-a-pair']
    """
    rules = named(request.rules)
    k = count(request.k, "--k")
    bias = float(share(request.bias, "--bias"))
    length = count(request.length, "--length")
    sources: list[tuple[Source, list[Point]]] = []
    for name, pairs in laws:
        step = progress(f"measuring, {name}", len(rules))
        found: list[Point] = []
        for rule in rules:
            found += points_of(rule, pairs, k)
            step(1)
        sources.append((Source(name, len(pairs), len(pairs[0][0])), found))
    return result_of(sources, rules, k, bias, length)


def laws_of(models: BlockModels, most: int) -> list[Pair]:
    """Return the pairs of laws [V] of two models, in float64, after at most so many of their prefixes, evenly spaced.

    >>> from spec_math.studies.blocks.models import embedded
    >>> target, draft = laws_of(embedded(), 1)[0]
    >>> target.shape == draft.shape
    True
    """
    places = _spaced(len(models.prefixes), most)
    pairs = [laws_after(models, models.prefixes[place]) for place in places]
    return [(np.asarray(target, dtype=np.float64), np.asarray(draft, dtype=np.float64)) for target, draft in pairs]


def named(names: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules whose names begin so, all without a name.

    Raises:
        ValueError: no rule begins so.

    >>> [rule.name for rule in named(["len"])]
    ['lenience']
    """
    chosen: list[Rule] = []
    for name in names:
        fitting = [rule for rule in RULES if rule.name.lower().startswith(name.lower())]
        if not fitting:
            raise ValueError(f"no rule begins with {name!r}; there are: {', '.join(rule.name for rule in RULES)}")
        chosen += [rule for rule in fitting if rule not in chosen]
    return tuple(chosen) or RULES


def _laws(request: LossyRequest) -> list[tuple[str, list[Pair]]]:
    if (request.target is None) != (request.draft is None):
        raise ValueError("--target and --draft come together; only one was given")
    most = count(request.positions, "--positions")
    if request.target is not None and request.draft is not None:
        source = from_files(open_laws(request.target), open_laws(request.draft), request.logits)
        wanted = set(_spaced(source.count, most))
        rows: list[Pair] = []
        for batch in source.batches(256):
            for row in range(len(batch.targets)):
                if batch.start + row in wanted:
                    t, d = batch.targets[row], batch.drafts[row]
                    rows.append((t / t.sum(), d / d.sum()))
        return [(source.source, rows)]
    return [(name, laws_of(models, most)) for name, models in defaults()]


def _spaced(number: int, most: int) -> list[int]:
    return sorted(set(np.linspace(0, number - 1, min(most, number)).round().astype(int).tolist()))
