"""A comparison of schemes over positions as a result: what each accepts for each k, the gap, the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.mean import Mean
from spec_math.result import Cell, Column, Curve, Note, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.studies.positions.filters import Sweep
from spec_math.studies.positions.lines import Comparison, Line
from spec_math.studies.positions.tally import Tally
from spec_math.studies.positions.verdicts import SchemeVerdict, Verdicts
from spec_math.verdict import Lossy, Undecided
from spec_math.wording import counted

ALL_COLUMNS = (
    Column("scheme", shown=False),
    Column("k", "count", "drafts", shown=False),
    Column("acceptance", "mean", "probability", shown=False),
    Column("test acceptance", "mean", "probability", shown=False),
    Column("gap to optimum", "mean", "probability", shown=False),
    Column("every position", "flag", shown=False),
    Column("positions", "count", shown=False),
    Column("verdict", shown=False),
    Column("page", shown=False),
)

MEANINGS = (
    Note(
        "The emitted token has exactly the target's law, whatever the draft is. The verdict is exact: every path of "
        "the verifier is walked in rational arithmetic on a fixed set of small laws, with ties and zeros among them.",
        "Lossless",
    ),
    Note(
        "The probability that the emitted token is among the k drafts. It is what optimal transport maximises, and "
        "what decides whether the next drafted token can be used.",
        "Acceptance",
    ),
    Note(
        "The probability that a test accepted a draft. It is at most the acceptance; often they are equal.",
        "A test accepts",
    ),
    Note(
        "The largest acceptance of any lossless verifier of one kind of drafts: 1 − max over subsets H of tokens of "
        "[P(all drafts in H) − target(H)]. No verifier of i.i.d. drafts reaches the grey region above theirs.",
        "Optimum",
    ),
    Note("What the optimum of a scheme's own drafts accepts more, on average over the same positions.", "Gap"),
    Note(
        "The standard error of the mean over positions, taken as independent. It says about how far other text of the "
        "kind would differ; positions of one text hang together, so that it promises no coverage.",
        "±",
    ),
)


def result_of(found: Comparison, verdicts: Verdicts, bound: str = "") -> Result:
    """Return a comparison as a result; `bound` says which subset of tokens bounds the optimum at one position.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.studies.positions.comparison import compare
    >>> from spec_math.studies.positions.stream import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> found = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> result_of(found, {}).finding
    'Take maximal coupling: it keeps 1.000 at k = 1.'
    """
    lossy = any(verdict.faulty for verdict in verdicts.values())
    # What is undecided stays so where it fails at these laws too.
    lossy = lossy or any(line.failed and _right(_verdict(line, verdicts)) for line in found.lines)
    undecided = any(isinstance(verdict.verdict, Undecided) for verdict in verdicts.values())
    notes = sentences([*footnotes(found, verdicts), *([bound] if bound else [])])
    return Result(
        "comparison",
        f"How much do verifiers of one position accept? {found.source}",
        finding(found, verdicts),
        (_long(found, verdicts), _wide(found, verdicts)),
        (against_k(found),),
        notes,
        MEANINGS,
        exit_code=1 if lossy else 3 if undecided else 0,
        setting=str(found.facts),
    )


def finding(found: Comparison, verdicts: Verdicts) -> str:
    """Say which lossless scheme keeps most at the largest k, and what the next one does.

    >>> from spec_math.studies.positions.lines import Comparison
    >>> finding(Comparison("", 1, 2, (1,), [], []), {})
    'No scheme was compared.'
    """
    k = max(found.ks)
    right = [line for line in found.lines if _right(_verdict(line, verdicts))]
    found_at = [(line, line.acceptance[k].estimate) for line in right if k in line.acceptance]
    # What was only run is taken at its lower end: luck is no reason to choose it.
    held = [(line, mean.value if mean.low is None else mean.low) for line, mean in found_at if mean is not None]
    if not held:
        return "No scheme was compared."
    (best, most), *others = sorted(held, key=lambda one: -one[1])
    if most <= 0:
        return f"No scheme is seen to keep a draft at k = {k}."
    beside = f"; {others[0][0].name} {others[0][1]:.3f}" if others else ""
    return f"Take {best.name}: it keeps {most:.3f} at k = {k}{beside}."


def footnotes(result: Comparison, verdicts: Verdicts) -> list[str]:
    """Return what the table needs said below it: sampled columns, the largest sum error, counterexamples.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.studies.positions.comparison import compare
    >>> from spec_math.studies.positions.stream import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> len(footnotes(result, {}))
    1
    >>> result.sampled = 2
    >>> footnotes(result, {})[1]  # doctest: +ELLIPSIS
    'Lines of fewer positions looked at evenly spaced ones; ...'
    """
    notes = [
        f"{counted(result.count, 'position')}, V = {result.size:,}; largest sum error met: {result.sum_error:.2g}; "
        "± is a standard error over positions; gaps are to the optimum of the scheme's own drafts.",
    ]
    if result.sampled < result.count and any(line.sampled for line in [*result.lines, *result.optima]):
        notes.append(
            "Lines of fewer positions looked at evenly spaced ones; what they show is the optimum for i.i.d. drafts "
            "over all positions plus the mean difference to it over those."
        )
    notes += [f"{line.failed}; it has no mean over the others" for line in result.lines if line.failed]
    for scheme, found in verdicts.items():
        if isinstance(found.verdict, Undecided):
            notes.append(f"{scheme.name}: {found.verdict}\n  at: {found.counterexample}")
        elif isinstance(found.verdict, Lossy):
            notes.append(f"{scheme.name}: {found.verdict}\n  counterexample: {found.counterexample}")
        elif found.formula_fault:
            notes.append(f"{scheme.name}: {found.formula_fault}\n  counterexample: {found.counterexample}")
        elif found.verdict.not_judged:
            notes.append(f"{scheme.name}: {found}; not judged for {', '.join(found.verdict.not_judged)}")
    judged = [found for found in verdicts.values() if str(found) == "lossless"]
    if judged:
        notes.append(f"lossless: exactly, on each of {judged[0].pairs} small pairs of laws, its formulas with it.")
    return notes


def against_k(found: Comparison) -> Picture:
    """Return acceptance against k, a line a scheme, with the optimum as the ceiling that none can cross.

    >>> against_k(Comparison("", 1, 2, (1, 2), [], [])).panels[0].ticks
    ('1', '2')
    """
    curves = [_curve(line) for line in found.lines]
    for number, line in enumerate(found.optima):
        curves.append(_curve(line, "bound" if number else "ceiling"))
    several = [t.mean for line in found.lines if len(line.acceptance) > 1 for t in line.acceptance.values() if t.count]
    # The schemes of several drafts fill the picture; those far below keep their value in the table.
    limits = (max(0.0, min(several) - 0.04), 1.0) if several else None
    panel = Panel(
        tuple(one for one in curves if one.x),
        "k, drafts for one position",
        "acceptance: P(emitted token is a draft)",
        log_x=True,
        ticks=tuple(map(str, found.ks)),
        limits=limits,
    )
    return Picture(
        "comparison",
        "Acceptance against the number of drafts",
        "Each line is a verifier; the black line is the most that any lossless verifier of i.i.d. drafts reaches. Bars "
        "are two standard errors over the positions.",
        (panel,),
    )


def of_sweep(sweep: Sweep, results: Sequence[Comparison], k: int) -> tuple[Table, Picture]:
    """Return acceptance of k drafts against the values of a filter: a row and a curve a scheme, and the optimum.

    >>> of_sweep(Sweep("draft.temperature", ()), [], 4)[1].title
    'Against temperature of the draft'
    """
    lines = [*results[0].lines, results[0].optima[0]] if results else []
    curves: list[Curve] = []
    rows: list[Row] = []
    for number, line in enumerate(lines):
        tallies = [[*result.lines, result.optima[0]][number].acceptance.get(k) for result in results]
        found = [None if tally is None else tally.estimate for tally in tallies]
        rows.append(Row((line.name, *found), "best" if line is lines[-1] else ""))
        if all(mean is not None for mean in found):
            heights = tuple(mean.value for mean in found if mean is not None)
            curves.append(Curve(line.name, sweep.values, heights, style="ceiling" if line is lines[-1] else "line"))
    title = f"Against {sweep.label}"
    columns = (Column("scheme"), *(Column(f"{value:g}", "mean", "probability") for value in sweep.values))
    panel = Panel(tuple(curves), sweep.label, f"acceptance at k = {k}")
    caption = f"Acceptance of k = {k} drafts against {sweep.label}."
    table = Table("sweep", f"{title}: acceptance at k = {k}", columns, tuple(rows))
    return table, Picture("sweep", title, caption, (panel,))


def _curve(line: Line, style: str = "line") -> Curve:
    means = {k: mean for k, tally in line.acceptance.items() if (mean := tally.estimate) is not None}
    return curve(line.name, means, style)  # type: ignore[arg-type]


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
    return Table(
        "wide",
        f"Acceptance: the chance that the emitted token is among k drafts; the gap is that at k = {k}",
        columns,
        tuple(rows),
    )


def _rows(line: Line, found: Comparison, verdicts: Verdicts, k: int) -> list[Row]:
    verdict = _verdict(line, verdicts)
    mark = "wrong" if verdict is not None and verdict.faulty else ""
    cells = *_cells(line.acceptance, found), _gap(line, k, verdict), _looked_at(line), str(verdict or "not judged")
    rows = [Row((line.name, *cells), mark)]
    pairs = [
        (line.acceptance[k], line.test_acceptance[k]) for k in line.test_acceptance if line.test_acceptance[k].count
    ]
    if any(abs(accepted.mean - tested.mean) > 1e-9 for accepted, tested in pairs):
        rows.append(Row(("of which a test accepts", *_cells(line.test_acceptance, found), None, None, ""), "faint"))
    return rows


def _long(found: Comparison, verdicts: Verdicts) -> Table:
    """A row a scheme and k, for CSV and JSON."""
    rows: list[Row] = []
    for line in (*found.lines, *found.optima):
        for k, tally in line.acceptance.items():
            tested = line.test_acceptance.get(k)
            values = tally.estimate, None if tested is None else tested.estimate
            verdict = _verdict(line, verdicts)
            about = not line.sampled, tally.count, str(verdict or ""), line.scheme.page if line.scheme else ""
            cells = line.name, k, *values, _gap(line, k, verdict), *about
            if tally.count:
                rows.append(Row(cells))
    return Table("comparison", "Every scheme and k", ALL_COLUMNS, tuple(rows))


def _verdict(line: Line, verdicts: Verdicts) -> SchemeVerdict | None:
    return None if line.scheme is None else verdicts.get(line.scheme)


def _gap(line: Line, k: int, verdict: SchemeVerdict | None) -> Mean | None:
    """Return the gap to the optimum of lossless verifiers, which one that is not known to be lossless does not have."""
    return line.gaps[k].estimate if k in line.gaps and _right(verdict) else None


def _looked_at(line: Line) -> int | None:
    """Return at how many positions a line was computed."""
    return max((tally.count for tally in line.acceptance.values()), default=0) or None


def _right(verdict: SchemeVerdict | None) -> bool:
    return verdict is None or verdict.right


def _cells(tallies: dict[int, Tally], found: Comparison) -> list[Cell]:
    return [tallies[k].estimate if k in tallies else None for k in found.ks]
