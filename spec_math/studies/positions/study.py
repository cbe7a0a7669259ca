"""Schemes compared over many positions, of files or of the embedded default, perhaps over draft temperatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from spec_math.arrays import count
from spec_math.distribution import overlap
from spec_math.files.law_files import LawFileError, open_laws
from spec_math.mean import Mean, of_positions
from spec_math.result import (
    Cell,
    Column,
    Curve,
    Panel,
    Picture,
    Result,
    Row,
    Style,
    Table,
    columns,
    curve,
    sentences,
    under_heads,
)
from spec_math.scheme import Scheme
from spec_math.studies.arguments import Progress, parsed_ks, stepped, together
from spec_math.studies.positions import stream as default
from spec_math.studies.positions.comparison import SAMPLED_MASSES, Comparison, Line, Tally, compare_judged
from spec_math.studies.positions.explanation import bounding_sentence
from spec_math.studies.positions.stream import (
    FLOAT,
    Filters,
    Positions,
    Sweep,
    filtered,
    filtered_files,
    from_files,
    parsed_filters,
    parsed_sweep,
)
from spec_math.studies.positions.verdicts import SchemeVerdict, Verdicts, judge, load_scheme
from spec_math.token_level import SCHEMES, optimal
from spec_math.token_level.optimum import several_drafters
from spec_math.verdict import Bracket, Lossy, Undecided
from spec_math.wording import counted


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
    """Return a result with what it becomes as one filter takes several values: a table, a picture, the best of each."""
    filters, sweep = swept
    k = max(parsed_ks(request.ks))
    sources = [_source(request, filters.put(sweep.name, value)) for value in sweep.values]
    found = [
        compare_judged(source, verdicts, (k,), progress(f"{sweep.label} {value:g}", source.count), request.seed)
        for value, source in zip(sweep.values, sources, strict=True)
    ]
    table, picture = of_sweep(sweep, found, k)
    notes = *result.notes, *sentences(maximisers(sweep, found, k))
    return replace(result, tables=(*result.tables, table), pictures=(*result.pictures, picture), notes=notes)


def judged(schemes: Sequence[Scheme], progress: Progress) -> dict[Scheme, SchemeVerdict]:
    """Judge schemes exactly, one after another."""
    judging = stepped(schemes, "judging exactly", progress)
    return {scheme: _of_library(scheme) if scheme in SCHEMES else judge(scheme) for scheme in judging}


_of_library = cache(judge)
"""The library's own records are what they are, on fixed pairs of laws: one process judges each of them once."""


def bound(found: Comparison, names: Sequence[str] | None) -> str:
    """Say which subset of tokens bounds the optimum at the position where it is least."""
    hardest = found.hardest
    if hardest is None:
        return ""
    where = f"Position {hardest.position} has the smallest optimum of {counted(max(found.ks), 'i.i.d. draft')}. "
    return where + bounding_sentence(hardest.target, hardest.draft, max(found.ks), names)


def maximisers(sweep: Sweep, results: Sequence[Comparison], k: int) -> list[str]:
    """Say for each scheme at which value of the filter its acceptance is largest."""
    found: list[str] = []
    for lines in zip(*(result.lines for result in results), strict=True):
        if k in lines[0].acceptance:
            means = [line.acceptance[k].mean for line in lines]
            most, at = max(means), sweep.values[means.index(max(means))]
            found.append(f"{lines[0].name}: acceptance at k = {k} is largest, {most:.4f}, at {sweep.label} {at:g}")
    return found


def _drafters(request: CompareRequest, progress: Progress) -> Result:
    """Compare drafters of one target at evenly spaced positions, one draft from each, tested in turn in every order."""
    together(request.target, request.drafts)
    target = open_laws(str(request.target))
    streams = [from_files(target, open_laws(place), request.logits) for place in request.drafts]
    if request.filters or request.sweep or request.schemes:
        raise ValueError("--filter, --sweep and --scheme are not possible with several drafters; leave them out")
    labels = [Path(place).stem for place in request.drafts]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number + 1})" for number, label in enumerate(labels)]
    first = streams[0]
    if any((other.count, other.size) != (first.count, first.size) for other in streams):
        shapes = "; ".join(f"{stream.source}: {stream.count} × {stream.size}" for stream in streams)
        raise LawFileError(f"all drafts need the target's positions and vocabulary; got {shapes}")
    told = progress("comparing drafters", first.count)
    step = max(1, first.count // max(8, SAMPLED_MASSES // first.size))
    found: dict[str, list[float]] = {}
    optima: list[Bracket] = []
    for pairs in zip(*(stream.laws(range(0, first.count, step)) for stream in streams), strict=True):
        law, drafts = pairs[0][0], [draft for _, draft in pairs]
        for name, value in _values(law, drafts, labels):
            found.setdefault(name, []).append(value)
        optima.append(several_drafters.optimum(law, drafts))
        told(step)
    means = {name: of_positions(values) for name, values in found.items()}
    low, high = (of_positions(ends) for ends in zip(*((one.lower, one.upper) for one in optima), strict=True))
    best = max(means, key=lambda name: means[name].value)
    finding = f"Take {best}: its acceptance is {means[best].value:.3f}. The optimum is at most {high.value:.3f}."
    rows = [Row((name, mean, None)) for name, mean in means.items()]
    rows.append(Row((f"optimum of {' and '.join(labels)}", high, low), "best"))
    title = f"One draft from each drafter, at {len(optima):,} evenly spaced positions"
    columns = (Column("drafts"), Column("acceptance", "mean", "probability"), Column("at least", "mean", "probability"))
    notes = sentences(["The optimum lies between the columns 'at least' and 'acceptance'."])
    return Result("drafters", title, finding, (Table("drafters", title, columns, tuple(rows)),), notes=notes)


def _source(request: CompareRequest, filters: Filters) -> Positions:
    together(request.target, request.drafts or None)
    if request.target is None:
        return filtered(default.default_positions(count(request.positions, "--positions")), filters)
    return filtered_files(request.target, request.drafts[0], request.logits, filters)


ALL_COLUMNS = (
    Column("scheme", shown=False),
    Column("k", "count", "drafts", shown=False),
    *columns(("acceptance", "test acceptance", "gap to optimum"), "mean", "probability", shown=False),
    Column("every position", "flag", shown=False),
    Column("positions", "count", shown=False),
    *columns(("verdict", "page"), shown=False),
)

MEANINGS = under_heads(
    {
        "Lossless": "The emitted token has exactly the target's distribution, whatever the draft is. The verdict is "
        "exact: it follows every path of the verifier in rational arithmetic, on a fixed set of small distributions "
        "with ties and zeros.",
        "Acceptance": "The probability that the emitted token is among the k drafts. Optimal transport "
        "maximises it. Only then can the next drafted token be used.",
        "A test accepts": "The probability that a test accepted a draft. It is at most the acceptance, and often "
        "equal to it.",
        "Optimum": "The largest acceptance of any lossless verifier of one kind of drafts: 1 − max over subsets H of "
        "tokens of [P(all drafts in H) − target(H)]. No verifier of i.i.d. drafts reaches the grey region.",
        "Gap": "The optimum of a scheme's own drafts minus its acceptance, on average over the same positions.",
        "±": "The standard error of the mean over positions, taken as independent. Positions of one text depend on "
        "each other, so it is no confidence interval.",
    }
)


def result_of(found: Comparison, verdicts: Verdicts, bound: str = "") -> Result:
    """Return a comparison as a result; `bound` says which subset of tokens bounds the optimum at one position."""
    lossy = any(verdict.faulty for verdict in verdicts.values())
    # What is undecided stays so where it fails at these laws too.
    lossy = lossy or any(line.failed and _right(_verdict(line, verdicts)) for line in found.lines)
    undecided = any(isinstance(verdict.verdict, Undecided) for verdict in verdicts.values())
    notes = sentences([*footnotes(found, verdicts), *([bound] if bound else [])])
    title, code = f"How much do verifiers of one position accept? {found.source}", 1 if lossy else 3 if undecided else 0
    said, tables = finding(found, verdicts), (_long(found, verdicts), _wide(found, verdicts))
    pictures, setting = (against_k(found),), str(found.facts)
    return Result("comparison", title, said, tables, pictures, notes, MEANINGS, code, setting=setting)


def finding(found: Comparison, verdicts: Verdicts) -> str:
    """Say which lossless scheme keeps most at the largest k, and what the next one does."""
    k = max(found.ks)
    right = [line for line in found.lines if _right(_verdict(line, verdicts))]
    found_at = [(line, line.acceptance[k].estimate) for line in right if k in line.acceptance]
    # What was only run is taken at its lower end: luck is no reason to choose it.
    held = [(line, mean.value if mean.low is None else mean.low) for line, mean in found_at if mean is not None]
    if not held:
        return "No scheme was compared."
    (best, most), *others = sorted(held, key=lambda one: -one[1])
    if most <= 0:
        return f"No scheme is seen to accept a draft at k = {k}."
    beside = f" The second best scheme is {others[0][0].name}, with acceptance {others[0][1]:.3f}." if others else ""
    return f"Take {best.name}: its acceptance is {most:.3f} at k = {k}.{beside}"


def footnotes(result: Comparison, verdicts: Verdicts) -> list[str]:
    """Return what the table needs said below it: sampled columns, the largest sum error, counterexamples."""
    notes = [
        f"The means are over {counted(result.count, 'position')}, V = {result.size:,}. Each distribution's sum is 1 up "
        f"to {result.sum_error:.2g}. A number after ± is the standard error of a mean over positions. A gap is the "
        "optimum of the scheme's own kind of drafts minus the scheme's acceptance."
    ]
    if result.sampled < result.count and any(line.sampled for line in [*result.lines, *result.optima]):
        notes.append(
            f"Rows with fewer positions than {result.count:,} are estimates from a sample of the positions. The "
            "optimum of i.i.d. drafts over all positions is a control variate for them."
        )
    notes += [f"{line.failed}; so it has no mean" for line in result.lines if line.failed]
    for scheme, found in verdicts.items():
        if isinstance(found.verdict, Undecided):
            notes.append(f"{scheme.name}: {found.verdict}\n  at: {found.counterexample}")
        elif isinstance(found.verdict, Lossy) or found.formula_fault:
            fault = found.formula_fault if found.verdict else found.verdict
            notes.append(f"{scheme.name}: {fault}\n  counterexample: {found.counterexample}")
        elif found.verdict.not_judged:
            notes.append(f"{scheme.name}: {found}; not judged for {', '.join(found.verdict.not_judged)}")
    judged = [found for found in verdicts.values() if str(found) == "lossless"]
    if judged:
        notes.append(
            f"The verdict 'lossless' is computed exactly, on {judged[0].pairs} small pairs of distributions. The "
            "acceptance formulas are checked on the same pairs."
        )
    return notes


def against_k(found: Comparison) -> Picture:
    """Return acceptance against k, a line a scheme, with the optimum as the ceiling that none can cross."""
    curves = [*map(_curve, found.lines), _curve(found.optima[0], "ceiling")]
    curves += [_curve(line, "bound") for line in found.optima[1:]]
    several = [t.mean for line in found.lines if len(line.acceptance) > 1 for t in line.acceptance.values() if t.count]
    # The schemes of several drafts fill the picture; those far below keep their value in the table.
    limits = (max(0.0, min(several) - 0.04), 1.0) if several else None
    axes = "k, drafts for one position", "acceptance: P(emitted token is a draft)"
    drawn, ticks = tuple(one for one in curves if one.x), tuple(map(str, found.ks))
    panel = Panel(drawn, *axes, log_x=True, ticks=ticks, limits=limits)
    return Picture(
        "comparison",
        "Acceptance against the number of drafts",
        "Each line is a verifier. The thick line is the optimum of i.i.d. drafts. Bars are two standard errors over "
        "positions.",
        (panel,),
    )


def of_sweep(sweep: Sweep, results: Sequence[Comparison], k: int) -> tuple[Table, Picture]:
    """Return acceptance of k drafts against the values of a filter: a row and a curve a scheme, and the optimum."""
    curves: list[Curve] = []
    rows: list[Row] = []
    for lines in zip(*([*result.lines, result.optima[0]] for result in results), strict=True):
        found = [line.acceptance[k].estimate if k in line.acceptance else None for line in lines]
        name, optimum = lines[0].name, lines[0].scheme is None
        rows.append(Row((name, *found), "best" if optimum else ""))
        heights = tuple(mean.value for mean in found if mean is not None)
        if len(heights) == len(found):
            curves.append(Curve(name, sweep.values, heights, style="ceiling" if optimum else "line"))
    title = f"Against {sweep.label}"
    swept = columns((f"{value:g}" for value in sweep.values), "mean", "probability")
    panel = Panel(tuple(curves), sweep.label, f"acceptance at k = {k}")
    caption = f"Acceptance of k = {k} drafts against {sweep.label}."
    table = Table("sweep", f"{title}: acceptance at k = {k}", (Column("scheme"), *swept), tuple(rows))
    return table, Picture("sweep", title, caption, (panel,))


def _curve(line: Line, style: Style = "line") -> Curve:
    means = {k: mean for k, tally in line.acceptance.items() if (mean := tally.estimate) is not None}
    return curve(line.name, means, style)


def _wide(found: Comparison, verdicts: Verdicts) -> Table:
    k = max(found.ks)
    columns = (
        Column("scheme"),
        *(Column(f"k = {one}", "mean", "probability") for one in found.ks),
        Column(f"gap, k = {k}", "mean", "probability", heading="gap"),
        Column("positions", "count", shown=len({_looked_at(line) for line in (*found.lines, *found.optima)}) > 1),
        Column("verdict"),
    )
    rows = [row for line in found.lines for row in _rows(line, found, verdicts, k)]
    for line in found.optima:
        cells = *_cells(line.acceptance, found), None, _looked_at(line), "the most"
        rows.append(Row((line.name, *cells), "best"))
    title = f"Acceptance: the probability that the emitted token is among k drafts; gap at k = {k}"
    return Table("wide", title, columns, tuple(rows))


def _rows(line: Line, found: Comparison, verdicts: Verdicts, k: int) -> list[Row]:
    verdict = _verdict(line, verdicts)
    mark = "wrong" if verdict is not None and verdict.faulty else ""
    cells = *_cells(line.acceptance, found), _gap(line, k, verdict), _looked_at(line), str(verdict or "not judged")
    rows = [Row((line.name, *cells), mark)]
    tests = [(line.acceptance[k].mean, tested.mean) for k, tested in line.test_acceptance.items() if tested.count]
    if any(abs(accepted - tested) > 1e-9 for accepted, tested in tests):
        rows.append(Row(("accepted by a test", *_cells(line.test_acceptance, found), None, None, ""), "faint"))
    return rows


def _long(found: Comparison, verdicts: Verdicts) -> Table:
    """A row a scheme and k, for CSV and JSON."""
    rows: list[Row] = []
    for line in (*found.lines, *found.optima):
        verdict, page = _verdict(line, verdicts), line.scheme.page if line.scheme else ""
        for k, tally in line.acceptance.items():
            tested = line.test_acceptance[k].estimate if k in line.test_acceptance else None
            cells = line.name, k, tally.estimate, tested, _gap(line, k, verdict), not line.sampled, tally.count
            if tally.count:
                rows.append(Row((*cells, str(verdict or ""), page)))
    return Table("comparison", "Every scheme and k", ALL_COLUMNS, tuple(rows))


def _verdict(line: Line, verdicts: Verdicts) -> SchemeVerdict | None:
    return None if line.scheme is None else verdicts.get(line.scheme)


def _gap(line: Line, k: int, verdict: SchemeVerdict | None) -> Mean | None:
    """Return the gap to the optimum of lossless verifiers, which one that is not known to be lossless does not have."""
    return line.gap(k) if _right(verdict) else None


def _looked_at(line: Line) -> int | None:
    """Return at how many positions a line was computed."""
    return max((tally.count for tally in line.acceptance.values()), default=0) or None


def _right(verdict: SchemeVerdict | None) -> bool:
    return verdict is None or verdict.right


def _cells(tallies: dict[int, Tally], found: Comparison) -> list[Cell]:
    return [tallies[k].estimate if k in tallies else None for k in found.ks]


def _values(target: FLOAT, drafts: list[FLOAT], labels: Sequence[str]) -> Iterator[tuple[str, Any]]:
    k = len(drafts)
    for label, draft in zip(labels, drafts, strict=True):
        yield f"{label} alone, one draft", overlap(target, draft)
        yield f"optimum of {k} drafts from {label}", optimal.acceptance(target, draft, k)
    for order in permutations(range(k)):
        name = " then ".join(labels[place] for place in order)
        yield name, several_drafters.acceptance(target, [drafts[place] for place in order])
