"""Schemes compared over many positions, of files or of the embedded default, perhaps over draft temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from spec_math.arrays import count
from spec_math.files.law_files import open_laws
from spec_math.result import Result, sentences
from spec_math.scheme import Scheme
from spec_math.studies import default
from spec_math.studies.arguments import parsed_ks
from spec_math.studies.positions.bounding_subset import bounding_sentence
from spec_math.studies.positions.comparison import compare_judged
from spec_math.studies.positions.drafters import compare_drafters, result_of_drafters
from spec_math.studies.positions.filters import Filters, Sweep, filtered, parsed_filters, parsed_sweep
from spec_math.studies.positions.lines import Comparison
from spec_math.studies.positions.schemes import load_scheme
from spec_math.studies.positions.stream import Positions, from_files
from spec_math.studies.positions.table import of_sweep, result_of
from spec_math.studies.positions.verdicts import SchemeVerdict, Verdicts, judge
from spec_math.studies.progress import Progress
from spec_math.token_level import SCHEMES


@dataclass(frozen=True)
class CompareRequest:
    """Two files of laws, or none for the embedded default; two drafts or more are compared as drafters."""

    target: str | None = None
    drafts: tuple[str, ...] = ()
    logits: bool = False
    ks: str = "1,2,4,8"
    schemes: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    sweep: str | None = None
    positions: int = 2000
    seed: int = 0


def study(request: CompareRequest, progress: Progress) -> Result:
    """Compare every scheme with the optimum of its own drafts; the exit code is 1 where one is lossy.

    Raises:
        ValueError, TypeError, OSError: bad input. BrokenInvariantError: numbers contradict each other.

    >>> study(CompareRequest(target="t.npy"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    ks = parsed_ks(request.ks)
    filters = parsed_filters(request.filters)
    if len(request.drafts) > 1:
        return _drafters(request, progress)
    schemes = (*SCHEMES, *(load_scheme(place) for place in request.schemes))
    sweep = None if request.sweep is None else parsed_sweep(request.sweep)
    source = _source(request, filters)
    verdicts = judged(schemes, progress)
    found = compare_judged(source, verdicts, ks, progress("comparing", source.count), request.seed)
    result = result_of(found, verdicts, bound(found, source.names))
    return result if sweep is None else with_sweep(result, request, (filters, sweep), verdicts, progress)


def with_sweep(
    result: Result, request: CompareRequest, swept: tuple[Filters, Sweep], verdicts: Verdicts, progress: Progress
) -> Result:
    """Return a result with what it becomes as one filter takes several values: a table, a picture, the best of each.

    >>> from spec_math.studies.progress import no_progress
    >>> asked = CompareRequest(positions=4, ks="1", sweep="draft.temperature=0.5:1:2")
    >>> [column.name for column in study(asked, no_progress).table("sweep").columns]
    ['scheme', '0.5', '1']
    """
    filters, sweep = swept
    ks = parsed_ks(request.ks)
    found: list[Comparison] = []
    for value in sweep.values:
        source = _source(request, filters.put(sweep.name, value))
        step = progress(f"{sweep.label} {value:g}", source.count)
        found.append(compare_judged(source, verdicts, (max(ks),), step, request.seed))
    notes = (*result.notes, *sentences(maximisers(sweep, found, max(ks))))
    table, picture = of_sweep(sweep, found, max(ks))
    return replace(result, tables=(*result.tables, table), notes=notes, pictures=(*result.pictures, picture))


def judged(schemes: Sequence[Scheme], progress: Progress) -> dict[Scheme, SchemeVerdict]:
    """Judge schemes exactly, one after another.

    >>> judged((), lambda what, steps: lambda done: None)
    {}
    """
    step = progress("judging exactly", len(schemes))
    found: dict[Scheme, SchemeVerdict] = {}
    for scheme in schemes:
        found[scheme] = _of_library(scheme) if scheme in SCHEMES else judge(scheme)
        step(1)
    return found


@cache
def _of_library(scheme: Scheme) -> SchemeVerdict:
    """The library's own records are what they are, on fixed pairs of laws: one process judges each of them once."""
    return judge(scheme)


def bound(found: Comparison, names: Sequence[str] | None) -> str:
    """Say which subset of tokens bounds the optimum at the position where it is least.

    >>> bound(Comparison("", 1, 2, (1,), [], []), None)
    ''
    """
    if found.hardest is None:
        return ""
    hardest = found.hardest
    where = f"At position {hardest.position}, where the optimum of i.i.d. drafts is least, "
    return where + bounding_sentence(hardest.target, hardest.draft, max(found.ks), names)


def maximisers(sweep: Sweep, results: Sequence[Comparison], k: int) -> list[str]:
    """Say for each scheme at which value of the filter its acceptance is largest.

    >>> maximisers(Sweep("top_k", ()), [], 1)
    []
    """
    found: list[str] = []
    for number, line in enumerate(results[0].lines if results else []):
        values = [result.lines[number].acceptance[k].mean for result in results if k in line.acceptance]
        if values:
            best = max(range(len(values)), key=values.__getitem__)
            found.append(
                f"{line.name}: acceptance at k = {k} is largest, {values[best]:.4f}, at {sweep.label} "
                f"{sweep.values[best]:g}"
            )
    return found


def _drafters(request: CompareRequest, progress: Progress) -> Result:
    if request.target is None:
        raise ValueError("--target and --draft come together; only one was given")
    target = open_laws(request.target)
    streams = [from_files(target, open_laws(place), request.logits) for place in request.drafts]
    if request.filters or request.sweep or request.schemes:
        raise ValueError("several drafters are compared as they are: leave out --filter, --sweep and --scheme")
    labels = [Path(place).stem for place in request.drafts]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number + 1})" for number, label in enumerate(labels)]
    return result_of_drafters(compare_drafters(streams, labels, progress("comparing drafters", streams[0].count)))


def _source(request: CompareRequest, filters: Filters) -> Positions:
    if (request.target is None) != (not request.drafts):
        raise ValueError("--target and --draft come together; only one was given")
    if request.target is None:
        return filtered(default.positions(count(request.positions, "--positions")), filters)
    files = open_laws(request.target), open_laws(request.drafts[0])
    # A temperature divides logits, where files hold them; T = 0 is the first maximum of the law.
    heats = (filters.target.temperature or 1.0, filters.draft.temperature or 1.0) if request.logits else (1.0, 1.0)
    return filtered(from_files(*files, request.logits, heats), filters, heated=request.logits)
