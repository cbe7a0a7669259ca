"""A comparison of schemes over positions as a result: what each accepts for each k, the gap, the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.mean import Mean
from spec_math.report.lines import Comparison, Line
from spec_math.report.tally import Tally
from spec_math.report.verdicts import SchemeVerdict, Verdicts
from spec_math.result import Cell, Column, Curve, Note, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.verdict import Lossy, Undecided

ALL_COLUMNS = (
    Column("scheme", shown=False),
    Column("k", "count", "drafts", shown=False),
    Column("membership", "mean", "probability", shown=False),
    Column("acceptance", "mean", "probability", shown=False),
    Column("gap to optimum", "number", "probability", shown=False),
    Column("every position", "flag", shown=False),
    Column("verdict", shown=False),
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
        "Membership",
    ),
    Note(
        "The probability that a test accepted a draft. It is at most the membership; often they are equal.",
        "Acceptance",
    ),
    Note(
        "The largest membership of any lossless verifier of one kind of drafts: 1 − max over subsets H of tokens of "
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
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> found = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> result_of(found, {}).finding
    'Take maximal coupling: it keeps 1.000 at k = 1.'
    """
    lossy = any(verdict.faulty for verdict in verdicts.values())
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
    )


def finding(found: Comparison, verdicts: Verdicts) -> str:
    """Say which lossless scheme keeps most at the largest k, and what the next one does.

    >>> from spec_math.report.lines import Comparison
    >>> finding(Comparison("", 1, 2, (1,), [], []), {})
    'No scheme was compared.'
    """
    k = max(found.ks)
    right = [line for line in found.lines if _right(_verdict(line, verdicts))]
    held = [(line, line.membership[k].mean) for line in right if k in line.membership and line.membership[k].count]
    if not held:
        return "No scheme was compared."
    (best, most), *others = sorted(held, key=lambda one: -one[1])
    beside = f"; {others[0][0].name} {others[0][1]:.3f}" if others else ""
    return f"Take {best.name}: it keeps {most:.3f} at k = {k}{beside}."


def footnotes(result: Comparison, verdicts: Verdicts) -> list[str]:
    """Return what the table needs said below it: sampled columns, the largest sum error, counterexamples.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> footnotes(result, {})[1]  # doctest: +ELLIPSIS
    '* looked at 3 evenly spaced positions only; what ...'
    """
    notes = [
        f"{result.count:,} positions, V = {result.size:,}; largest sum error met: {result.sum_error:.2g}; "
        "± is a standard error over positions; gaps are to the optimum of the scheme's own drafts.",
    ]
    if any(line.sampled for line in [*result.lines, *result.optima]):
        notes.append(
            f"* looked at {result.sampled:,} evenly spaced positions only; what is shown is the optimum for i.i.d. "
            "drafts over all positions plus the mean difference to it over those."
        )
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
    """Return membership against k, a line a scheme, with the optimum as the ceiling that none can cross.

    >>> against_k(Comparison("", 1, 2, (1, 2), [], [])).panels[0].ticks
    ('1', '2')
    """
    curves = [_curve(line) for line in found.lines]
    for number, line in enumerate(found.optima):
        curves.append(_curve(line, "bound" if number else "ceiling"))
    several = [t.mean for line in found.lines if len(line.membership) > 1 for t in line.membership.values() if t.count]
    # The schemes of several drafts fill the picture; those far below keep their value in the table.
    limits = (max(0.0, min(several) - 0.04), 1.0) if several else None
    panel = Panel(
        tuple(one for one in curves if one.x),
        "k, drafts for one position",
        "membership: P(emitted token is a draft)",
        log_x=True,
        ticks=tuple(map(str, found.ks)),
        limits=limits,
    )
    return Picture(
        "comparison",
        "Membership against the number of drafts",
        "Each line is a verifier; the black line is the most that any lossless verifier of i.i.d. drafts reaches. Bars "
        "are two standard errors over the positions.",
        (panel,),
    )


def of_sweep(temperatures: Sequence[float], results: Sequence[Comparison], k: int) -> Picture:
    """Return membership of k drafts against the draft's temperature, a line a scheme.

    >>> of_sweep([], [], 4).title
    'A hotter or cooler draft'
    """
    lines = [*results[0].lines, results[0].optima[0]] if results else []
    curves: list[Curve] = []
    for number, line in enumerate(lines):
        held = [[*result.lines, result.optima[0]][number].membership.get(k) for result in results]
        values = tuple(tally.mean for tally in held if tally is not None and tally.count)
        if len(values) == len(temperatures):
            style = "ceiling" if line is lines[-1] else "line"
            curves.append(Curve(line.name, tuple(map(float, temperatures)), values, style=style))
    return Picture(
        "sweep",
        "A hotter or cooler draft",
        f"Membership of k = {k} drafts against the draft's temperature.",
        (Panel(tuple(curves), "temperature of the draft", f"membership at k = {k}"),),
    )


def _curve(line: Line, style: str = "line") -> Curve:
    means = {k: mean for k, tally in line.membership.items() if (mean := _mean(tally)) is not None}
    return curve(line.name, means, style)  # type: ignore[arg-type]


def _wide(found: Comparison, verdicts: Verdicts) -> Table:
    k = max(found.ks)
    columns = (
        Column("scheme"),
        *(Column(f"k = {one}", "mean", "probability") for one in found.ks),
        Column(f"gap, k = {k}", "number", "probability", heading="gap"),
        Column("verdict"),
    )
    rows = [row for line in found.lines for row in _rows(line, found, verdicts, k)]
    for line in found.optima:
        rows.append(Row((_marked(line), *_cells(line.membership, found), None, "none accepts more"), "best"))
    return Table(
        "wide",
        f"Membership: the chance that the emitted token is among k drafts; the gap is that at k = {k}",
        columns,
        tuple(rows),
    )


def _rows(line: Line, found: Comparison, verdicts: Verdicts, k: int) -> list[Row]:
    verdict = _verdict(line, verdicts)
    mark = "wrong" if verdict is not None and verdict.faulty else ""
    cells = *_cells(line.membership, found), _gap(found, line, k, verdict), str(verdict or "not judged")
    rows = [Row((_marked(line), *cells), mark)]
    pairs = [(line.membership[k], line.acceptance[k]) for k in line.acceptance if line.acceptance[k].count]
    if any(abs(member.mean - accepted.mean) > 1e-9 for member, accepted in pairs):
        rows.append(Row(("of which a test accepts", *_cells(line.acceptance, found), None, ""), "faint"))
    return rows


def _long(found: Comparison, verdicts: Verdicts) -> Table:
    """A row a scheme and k, for CSV and JSON."""
    rows: list[Row] = []
    for line in (*found.lines, *found.optima):
        for k, tally in line.membership.items():
            values = _mean(tally), _mean(line.acceptance.get(k))
            verdict = _verdict(line, verdicts)
            cells = line.name, k, *values, _gap(found, line, k, verdict), not line.sampled, str(verdict or "")
            if tally.count:
                rows.append(Row(cells))
    return Table("comparison", "Every scheme and k", ALL_COLUMNS, tuple(rows))


def _verdict(line: Line, verdicts: Verdicts) -> SchemeVerdict | None:
    return None if line.scheme is None else verdicts.get(line.scheme)


def _gap(found: Comparison, line: Line, k: int, verdict: SchemeVerdict | None) -> float | None:
    """Return the gap to the optimum of lossless verifiers, which one that is not known to be lossless does not have."""
    return found.gap(line, k) if _right(verdict) else None


def _right(verdict: SchemeVerdict | None) -> bool:
    return verdict is None or verdict.right


def _cells(tallies: dict[int, Tally], found: Comparison) -> list[Cell]:
    return [_mean(tallies.get(k)) for k in found.ks]


def _mean(tally: Tally | None) -> Mean | None:
    return None if tally is None or not tally.count else Mean(tally.mean, tally.error, tally.count)


def _marked(line: Line) -> str:
    return f"{line.name} *" if line.sampled else line.name
