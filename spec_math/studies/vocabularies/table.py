"""Methods for heterogeneous vocabularies as a result: a row a drafter and method, its bias, and which one to take."""

from __future__ import annotations

from fractions import Fraction

from spec_math.mean import Mean
from spec_math.result import Cell, Column, Curve, Note, Panel, Picture, Result, Row, Table, sentences
from spec_math.string_level.methods import METHODS, TOKEN_TIMING, Method
from spec_math.studies.vocabularies.comparison import (
    DrafterLines,
    MethodLine,
    VocabularyComparison,
    advice,
    called,
    choice,
)

METHOD_COLUMNS = (
    Column("drafter", shown=False),
    Column("method"),
    Column("lossless", "flag"),
    Column("acceptance", "mean", "probability", heading="accepts first"),
    Column("lookahead", "count", "draft tokens", heading="draft tokens"),
    Column("tokens per call", "mean", "tokens per call of the target"),
    Column("drafter calls", "number", "per call of the target", digits=None),
    Column("speed-up", "mean", "times plain decoding", digits=3),
    Column("acceptance, exact", "fraction", shown=False),
    Column("tokens, exact", "fraction", shown=False),
    Column("speed-up, exact", "fraction", shown=False),
    Column("Table 4 asks for"),
    Column("page", shown=False),
)
DRAFTER_COLUMNS = (
    Column("drafter"),
    Column("tokens", "count"),
    Column("shared tokens", "count", heading="shared"),
    Column("draft mass on shared tokens", "mean", "probability", heading="draft mass on them"),
    Column("drafted texts that begin with no target token", "mean", "probability", heading="no target token"),
    Column("laws that psi asks for", "count", heading="laws that ψ asks for"),
)
BIAS_COLUMNS = (
    Column("drafter"),
    Column("draft tokens", "count"),
    Column("total variation", "mean", "probability"),
    Column("at least, with 99 %", "number", "probability"),
    Column("exact", "flag"),
)

_HOW = {
    "exact": "Everything is added up exactly.",
    "Monte Carlo": "Acceptances are computed, but for that of TokenTiming; it and tokens per call are sampled, the "
    "verifier's coins averaged out.",
    "laws": "Acceptances are computed; of tokens per call, laws alone say those of one draft token.",
}


def result_of(found: VocabularyComparison) -> Result:
    """Return a comparison as a result: tables, picture, what is advised, and the advice in one sentence first.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> result_of(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact")).notes[0].text
    'Everything is added up exactly.'
    """
    return Result(
        "vocabularies",
        f"Drafters with vocabularies of their own: {found.source}",
        _finding(found),
        (_methods(found), _drafters(found), *_biases(found)),
        (picture(found),),
        (*sentences(_notes(found)), *(note for drafter in found.drafters for note in _advised(drafter, found))),
    )


def picture(found: VocabularyComparison) -> Picture:
    """Return what each method accepts of the first draft, its tokens per call, and TokenTiming's bias, as bars.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> len(picture(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact")).panels)
    2
    """
    names = tuple(drafter.name for drafter in found.drafters)
    listed = dict.fromkeys((line.method, line.alike) for drafter in found.drafters for line in drafter.lines)
    known = [(method, False) for method in METHODS if (method, False) in listed]
    methods = [*known, *(one for one in listed if one not in known)]

    def bars(y: str, means: dict[str, list[Mean | None]], *further: Curve) -> Panel:
        curves = tuple(_bar(label, values) for label, values in means.items())
        return Panel((*curves, *further), "", y, bars=True, ticks=names)

    accepted, tokens = (
        {called(one, alike): [_of(drafter, one, alike, what) for drafter in found.drafters] for one, alike in methods}
        for what in ("acceptance", "tokens")
    )
    panels = [
        bars("accepts the first draft", accepted),
        bars("target tokens per target call", tokens, Curve("no gain", (0.0,), (1.0,), style="guide")),
    ]
    if any(drafter.biases for drafter in found.drafters):
        biases = {
            label: [next((bias.value for bias in d.biases if bias.exact is exact), None) for d in found.drafters]
            for label, exact in (("its bias, exact", True), ("its bias, at least", False))
        }
        panels.append(bars(f"{TOKEN_TIMING.name}: bias of the first token", biases))
    return Picture(
        "vocabularies",
        "Drafters with vocabularies of their own",
        "What each method accepts of the first draft (Table 3 of Timor et al.); tokens per target call, at the "
        "lookahead of the highest speed-up; how far the printed TokenTiming is off the target with its first token. "
        f"Bars are two standard errors over {found.positions} positions, or 99 % intervals where one holds.",
        tuple(panels),
    )


def _bar(label: str, values: list[Mean | None]) -> Curve:
    held = [(float(place), mean) for place, mean in enumerate(values) if mean is not None]
    drawn = tuple(mean.value for _, mean in held)
    ends = [mean.bars for _, mean in held] if any(mean.samples for _, mean in held) else []
    low, high = tuple(low for low, _ in ends), tuple(high for _, high in ends)
    return Curve(label, tuple(place for place, _ in held), drawn, low, high)


def _of(drafter: DrafterLines, method: Method, alike: bool, what: str) -> Mean | None:
    line = drafter.line(method, alike)
    return None if line is None else getattr(line, what)


def _methods(found: VocabularyComparison) -> Table:
    rows = [_row(drafter, line) for drafter in found.drafters for line in drafter.lines]
    return Table("methods", "What each method accepts and yields", METHOD_COLUMNS, tuple(rows))


def _row(drafter: DrafterLines, line: MethodLine) -> Row:
    exact: list[Cell] = [Fraction(value) for value in line.exact] or [None, None, None]
    cells: tuple[Cell, ...] = (
        drafter.name,
        line.name,
        line.method.lossless,
        line.acceptance,
        line.lookahead,
        line.tokens,
        line.calls,
        _faster(line),
        *exact,
        line.method.needs.partition(":")[0].partition(";")[0],
        line.method.page,
    )
    about = f"{drafter.name}: {drafter.size:,} tokens, {drafter.shared:,} of them the target's"
    return Row(cells, "" if line.method.lossless else "wrong", about)


def _faster(line: MethodLine) -> Mean | None:
    """Return the speed-up with the error of the tokens; how often the drafter is called is taken as known."""
    return None if line.speed_up is None or line.tokens is None else line.tokens.scaled_to(line.speed_up)


def _drafters(found: VocabularyComparison) -> Table:
    rows = [
        Row((one.name, one.size, one.shared, one.shared_mass, one.untokenisable, one.psi_calls))
        for one in found.drafters
    ]
    return Table("drafters", f"The drafters of a target with {found.size:,} tokens", DRAFTER_COLUMNS, tuple(rows))


def _biases(found: VocabularyComparison) -> list[Table]:
    rows = [
        Row((one.name, bias.lookahead, bias.value, bias.certain, bias.exact))
        for one in found.drafters
        for bias in one.biases
    ]
    title = "TokenTiming as printed: total variation of its first token from the target; sampled, a bound from below"
    return [Table("bias", title, BIAS_COLUMNS, tuple(rows))] if rows else []


def _notes(found: VocabularyComparison) -> list[str]:
    errors = ""
    if found.positions > 1:
        errors = (
            f" ± is a standard error over {found.positions:,} positions that lie evenly in the text: it says their "
            "spread and promises no coverage. The lookahead is chosen on the same samples, which favours it a little."
        )
    return [
        f"{_HOW[found.how]}{errors}",
        *found.notes,
        f"Speed-up: tokens per call / (1 + drafter calls · {found.draft_cost:g}), at the lookahead that suits each "
        "method best: a drafter call costs so much of a target call (--draft-cost).",
        "Where tokens per call stand without draft tokens, drafting lasts until the first target token is determined.",
    ]


def _advised(drafter: DrafterLines, found: VocabularyComparison) -> tuple[Note, ...]:
    return sentences(advice(drafter, found.surest), drafter.name)


def _finding(found: VocabularyComparison) -> str:
    choices = {drafter.name: choice(drafter) for drafter in found.drafters}
    said = {name: sentence for name, sentence in choices.items() if sentence}
    if not said:
        return "Laws alone do not say which method is fastest: give the models to have tokens per call."
    if len(choices) == 1:
        return next(iter(said.values()))
    return " ".join(f"{name}: {sentence}" for name, sentence in said.items())
