"""Lossy rules over their parameters, on both embedded defaults or on files of laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.files.law_files import LawFile, open_laws
from spec_math.lossy import OF_LOGITS, RULES, Rule
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
    rules = named(request.rules, request.logits)
    laws, offsets = _laws(request)
    result = measured(laws, request, progress, offsets)
    grown = growth_table([rule for rule in rules if not rule.several])
    return replace(result, tables=(*result.tables, *grown))


def measured(
    laws: Sequence[tuple[str, Sequence[Pair]]],
    request: LossyRequest,
    progress: Progress,
    offsets: Sequence[float] | None = None,
) -> Result:
    """Return what the rules of a request do on pairs of laws [V], by the names of their sources.

    offsets: ln Σ exp z of the target's logits, one a pair, where the laws came from logits.

    Raises:
        ValueError, TypeError: bad input.

    >>> pair = [0.25, 0.75], [0.5, 0.5]
    >>> found = measured([("a pair", [pair])], LossyRequest(rules=("ensemble",)), lambda what, steps: lambda done: None)
    >>> [table.name for table in found.tables]
    ['lossy', 'at-a-pair']
    """
    rules = named(request.rules, offsets is not None)
    k = count(request.k, "--k")
    bias = float(share(request.bias, "--bias"))
    length = count(request.length, "--length")
    sources: list[tuple[Source, list[Point]]] = []
    for name, pairs in laws:
        step = progress(f"measuring, {name}", len(rules))
        found: list[Point] = []
        for rule in rules:
            found += points_of(rule, pairs, k, offsets)
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


def named(names: Sequence[str], logits: bool = False) -> tuple[Rule, ...]:
    """Return the rules whose names begin so, all without a name; rules of logits only where there are logits.

    Raises:
        ValueError: no rule begins so; one that does is a rule of logits, and there are none.

    >>> [rule.name for rule in named(["len"])]
    ['lenience']
    """
    chosen: list[Rule] = []
    for name in names:
        fitting = [rule for rule in (*RULES, *OF_LOGITS) if rule.name.lower().startswith(name.lower())]
        if not fitting:
            there = ", ".join(rule.name for rule in (*RULES, *OF_LOGITS))
            raise ValueError(f"no rule begins with {name!r}; there are: {there}")
        for rule in fitting:
            if rule.of_logits and not logits:
                raise ValueError(f"{rule.name} is a rule of logits: give --target and --draft of logits, and --logits")
        chosen += [rule for rule in fitting if rule not in chosen]
    return tuple(chosen) or (*RULES, *(OF_LOGITS if logits else ()))


def _laws(request: LossyRequest) -> tuple[list[tuple[str, list[Pair]]], list[float] | None]:
    """Return the pairs of laws by the names of their sources; and ln Σ exp z of each target where it has logits."""
    if (request.target is None) != (request.draft is None):
        raise ValueError("--target and --draft come together; only one was given")
    most = count(request.positions, "--positions")
    if request.target is not None and request.draft is not None:
        target = open_laws(request.target)
        source = from_files(target, open_laws(request.draft), request.logits)
        wanted = set(_spaced(source.count, most))
        rows: list[Pair] = []
        for batch in source.batches(256):
            for row in range(len(batch.targets)):
                if batch.start + row in wanted:
                    t, d = batch.targets[row], batch.drafts[row]
                    rows.append((t / t.sum(), d / d.sum()))
        return [(source.source, rows)], _offsets(target, wanted) if request.logits else None
    return [(name, laws_of(models, most)) for name, models in defaults()], None


def _offsets(target: LawFile, wanted: set[int]) -> list[float]:
    """Return ln Σ exp z, in nats, of the rows of a file of logits that are wanted, in order."""
    from scipy.special import logsumexp  # slow to load, and laws that are no logits need none of it

    found: list[float] = []
    start = 0
    for chunk in target.chunks(256):
        places = [row for row in range(len(chunk)) if start + row in wanted]
        found += np.asarray(logsumexp(np.asarray(chunk)[places].astype(np.float64), axis=1)).tolist()
        start += len(chunk)
    return found


def _spaced(number: int, most: int) -> list[int]:
    return sorted(set(np.linspace(0, number - 1, min(most, number)).round().astype(int).tolist()))
