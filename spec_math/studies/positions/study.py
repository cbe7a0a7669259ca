"""Schemes compared over many positions, of files or of the embedded default, perhaps over draft temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spec_math.arrays import count
from spec_math.report import default
from spec_math.report.arguments import load_scheme, names_of, parsed_ks, parsed_sweep
from spec_math.report.bounding_subset import bounding_sentence, laws_at
from spec_math.report.comparison import compare_judged
from spec_math.report.law_files import open_laws
from spec_math.report.lines import Comparison
from spec_math.report.positions import Positions, compressed, from_files, heated
from spec_math.report.verdicts import SchemeVerdict, judge
from spec_math.result import Result, sentences
from spec_math.scheme import Scheme
from spec_math.studies.positions.drafters import compare_drafters, result_of_drafters
from spec_math.studies.positions.table import of_sweep, result_of
from spec_math.studies.progress import Told
from spec_math.token_level import SCHEMES


@dataclass(frozen=True)
class CompareRequest:
    """Two files of laws, or none for the embedded default; two drafts or more are compared as drafters."""

    target: str | None = None
    drafts: tuple[str, ...] = ()
    logits: bool = False
    ks: str = "1,2,4,8"
    schemes: tuple[str, ...] = ()
    sweep: str | None = None
    compress: int | None = None
    names: Path | None = None
    position: int | None = None
    positions: int = 2000
    seed: int = 0


def study(request: CompareRequest, told: Told) -> Result:
    """Compare every scheme with the optimum of its own drafts; the exit code is 1 where one is lossy.

    Raises:
        ValueError, TypeError, OSError: bad input. BrokenInvariantError: numbers contradict each other.

    >>> study(CompareRequest(target="t.npy"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    ks = parsed_ks(request.ks)
    if len(request.drafts) > 1:
        return _drafters(request, told)
    schemes = (*SCHEMES, *(load_scheme(place) for place in request.schemes))
    temperatures = parsed_sweep(request.sweep) if request.sweep else []
    source = _source(request, 1.0)
    asked = None if request.position is None else (request.position, *laws_at(source, request.position))
    verdicts = judged(schemes, told)
    found = compare_judged(source, verdicts, ks, told("comparing", source.count), request.seed)
    result = result_of(found, verdicts, bound(found, source.names, asked))
    if not temperatures:
        return result
    swept = [
        compare_judged(
            _source(request, heat), verdicts, ks, told(f"draft temperature {heat:g}", source.count), request.seed
        )
        for heat in temperatures
    ]
    notes = (*result.notes, *sentences(maximisers(temperatures, swept, max(ks))))
    return replace(result, notes=notes, pictures=(*result.pictures, of_sweep(temperatures, swept, max(ks))))


def judged(schemes: Sequence[Scheme], told: Told) -> dict[Scheme, SchemeVerdict]:
    """Judge schemes exactly, one after another.

    >>> judged((), lambda what, steps: lambda done: None)
    {}
    """
    step = told("judging exactly", len(schemes))
    found: dict[Scheme, SchemeVerdict] = {}
    for scheme in schemes:
        found[scheme] = judge(scheme)
        step(1)
    return found


def bound(found: Comparison, names: Sequence[str] | None, asked: tuple[int, Any, Any] | None = None) -> str:
    """Say which subset of tokens bounds the optimum at the position that is asked for, else where it is least.

    >>> bound(Comparison("", 1, 2, (1,), [], []), None)
    ''
    """
    k = max(found.ks)
    if asked is not None:
        position, target, draft = asked
        return f"At position {position} {bounding_sentence(target, draft, k, names)}"
    if found.hardest is None:
        return ""
    hardest = found.hardest
    where = f"At position {hardest.position}, where the optimum is least, "
    return where + bounding_sentence(hardest.target, hardest.draft, k, names)


def maximisers(temperatures: Sequence[float], results: Sequence[Comparison], k: int) -> list[str]:
    """Say for each scheme at which draft temperature its membership is largest.

    >>> maximisers([], [], 1)
    []
    """
    found: list[str] = []
    for number, line in enumerate(results[0].lines if results else []):
        if k in line.membership and line.membership[k].count:
            values = [result.lines[number].membership[k].mean for result in results]
            best = max(range(len(values)), key=values.__getitem__)
            found.append(
                f"{line.name}: membership at k = {k} is largest, {values[best]:.4f}, at draft temperature "
                f"{temperatures[best]:g}"
            )
    return found


def _drafters(request: CompareRequest, told: Told) -> Result:
    if request.target is None:
        raise ValueError("--target and --draft come together; only one was given")
    target = open_laws(request.target)
    streams = [from_files(target, open_laws(place), request.logits) for place in request.drafts]
    if request.compress is not None or request.sweep or request.schemes:
        raise ValueError("several drafters are compared as they are: leave out --compress, --sweep and --scheme")
    labels = [Path(place).stem for place in request.drafts]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number + 1})" for number, label in enumerate(labels)]
    return result_of_drafters(compare_drafters(streams, labels, told("comparing drafters", streams[0].count)))


def _source(request: CompareRequest, temperature: float) -> Positions:
    if (request.target is None) != (not request.drafts):
        raise ValueError("--target and --draft come together; only one was given")
    if request.target is None:
        found = default.positions(count(request.positions, "--positions"))
        found = heated(found, temperature) if temperature != 1.0 else found
    else:
        files = open_laws(request.target), open_laws(request.drafts[0])
        found = from_files(*files, request.logits, (1.0, temperature))
        if request.names is not None:
            found = replace(found, names=names_of(request.names, found.size))
    if request.compress is None:
        return found
    return compressed(found, count(request.compress, "--compress"))
