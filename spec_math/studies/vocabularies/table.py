"""Methods for heterogeneous vocabularies as a result: a row a drafter and method, its bias, and which one to take."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from spec_math.mean import Mean
from spec_math.result import Cell, Column, Curve, Panel, Picture, Result, Row, Table, columns, curve, rows, sentences
from spec_math.string_level.methods import METHODS, SLEM, SLRS, TLI, TOKEN_TIMING, UNION, Method
from spec_math.wording import counted

METHOD_COLUMNS = (
    Column("drafter", shown=False),
    Column("method"),
    Column("lossless", "flag"),
    Column("acceptance", "mean", "probability", heading="accepts first"),
    Column("lookahead", "count", "draft tokens", heading="draft tokens"),
    Column("tokens per call", "mean", "tokens per call of the target"),
    Column("drafter calls", "number", "per call of the target", digits=None),
    Column("speed-up", "mean", "times plain decoding", digits=3),
    *columns(("acceptance, exact", "tokens, exact", "speed-up, exact"), "fraction", shown=False),
    Column("Table 4 asks for"),
    Column("page", shown=False),
)
DRAFTER_COLUMNS = (
    Column("drafter"),
    Column("tokens", "count"),
    Column("shared tokens", "count", heading="shared"),
    Column("draft mass on shared tokens", "mean", "probability", heading="draft mass on them"),
    Column("drafted texts that begin with no target token", "mean", "probability", heading="no target token"),
    Column("laws that psi asks for", "count", heading="distributions that ψ needs"),
)
BIAS_COLUMNS = (
    Column("drafter"),
    Column("draft tokens", "count"),
    Column("total variation", "mean", "probability"),
    Column("at least, with 99 %", "number", "probability"),
    Column("exact", "flag"),
)

_HOW = {
    "exact": "All values are exact.",
    "Monte Carlo": "Acceptances are computed exactly, except that of TokenTiming. It and the tokens per call are "
    "sampled, with the verifier's coins averaged out.",
    "laws": "Acceptances are computed exactly. Distributions alone give the tokens per call of one draft token.",
}


def result_of(found: VocabularyComparison) -> Result:
    """Return a comparison as a result: tables, picture, what is advised, and the advice in one sentence first."""
    title, tables = f"Drafters with vocabularies of their own: {found.source}", _tables(found)
    advised = (note for one in found.drafters for note in sentences(advice(one, found.surest), one.name))
    notes = *sentences(_notes(found)), *advised
    return Result("vocabularies", title, _finding(found), tables, (picture(found),), notes)


def picture(found: VocabularyComparison) -> Picture:
    """Return what each method accepts of the first draft, its tokens per call, and TokenTiming's bias, as bars."""
    names = tuple(drafter.name for drafter in found.drafters)
    listed = dict.fromkeys((line.method, line.alike) for drafter in found.drafters for line in drafter.lines)
    known = [(method, False) for method in METHODS if (method, False) in listed]
    methods = [*known, *(one for one in listed if one not in known)]

    def bars(y: str, means: dict[str, list[Mean | None]], *further: Curve) -> Panel:
        curves = [
            curve(label, {place: mean for place, mean in enumerate(values) if mean is not None})
            for label, values in means.items()
        ]
        return Panel((*curves, *further), "", y, bars=True, ticks=names)

    accepted, tokens = (
        {called(*key): [getattr(drafter.line(*key), what, None) for drafter in found.drafters] for key in methods}
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
        "Acceptance of the first draft (Table 3 of Timor et al.). Tokens per target call, at the lookahead of the "
        "highest speed-up. Total variation of the first token of TokenTiming, as printed, from the target. "
        f"Bars are two standard errors over {found.positions} positions, or 99 % intervals where known.",
        tuple(panels),
    )


def _tables(found: VocabularyComparison) -> tuple[Table, ...]:
    """Return the tables of methods and of drafters, and that of biases where there are any."""
    lines = tuple(_row(drafter, line) for drafter in found.drafters for line in drafter.lines)
    drafters = rows(
        (one.name, one.size, one.shared, one.shared_mass, one.untokenisable, one.psi_calls) for one in found.drafters
    )
    biases = [(one.name, bias) for one in found.drafters for bias in one.biases]
    biased = rows((name, bias.lookahead, bias.value, bias.certain, bias.exact) for name, bias in biases)
    title = "TokenTiming as printed: total variation of its first token from the target (sampled: lower bounds)"
    return (
        Table("methods", "Acceptance, tokens per call and speed-up of each method", METHOD_COLUMNS, lines),
        Table("drafters", f"The drafters of a target with {found.size:,} tokens", DRAFTER_COLUMNS, drafters),
        *([Table("bias", title, BIAS_COLUMNS, biased)] if biased else []),
    )


def _row(drafter: DrafterLines, line: MethodLine) -> Row:
    exact: list[Cell] = [Fraction(value) for value in line.exact] or [None, None, None]
    # The speed-up has the error of the tokens: how often the drafter is called is taken as known.
    faster = None if line.speed_up is None or line.tokens is None else line.tokens.scaled_to(line.speed_up)
    values = line.acceptance, line.lookahead, line.tokens, line.calls, faster, *exact
    needs, method = line.method.needs.partition(":")[0].partition(";")[0], line.method
    cells = drafter.name, line.name, method.lossless, *values, needs, method.page
    about = f"{drafter.name}: {drafter.size:,} tokens, {drafter.shared:,} of them the target's"
    return Row(cells, "" if method.lossless else "wrong", about)


def _notes(found: VocabularyComparison) -> list[str]:
    errors = ""
    if found.positions > 1:
        errors = (
            f" ± is a standard error over {found.positions:,} evenly spaced positions, and no confidence interval. The "
            "lookahead is chosen on the same samples, which favours it a little."
        )
    return [
        f"{_HOW[found.how]}{errors}",
        f"Speed-up = tokens per call / (1 + drafter calls · {found.draft_cost:g}), at each method's best lookahead. "
        "The option --draft-cost sets the cost of a drafter call in target calls.",
        "If a row has no number of draft tokens, drafting lasts until the first target token is determined.",
    ]


def _finding(found: VocabularyComparison) -> str:
    said = {drafter.name: sentence for drafter in found.drafters if (sentence := choice(drafter))}
    if not said:
        return "Distributions alone do not show which method is fastest. Give models to compute tokens per call."
    if len(found.drafters) == 1:
        return next(iter(said.values()))
    return " ".join(f"{name}: {sentence}" for name, sentence in said.items())


def called(method: Method, alike: bool) -> str:
    """Return what a line is called: its method, and that every draft token is taken to have one law, where it is."""
    return f"{method.name}, every draft token from this distribution" if alike else method.name


@dataclass(frozen=True)
class MethodLine:
    """One method with one drafter, at the lookahead that suits it best; None: until the first token is determined.

    acceptance: the chance that the first drafted target token is accepted (Table 3). tokens: target tokens per call of
    the target. calls: drafter calls in it. speed_up: tokens / (1 + calls · draft cost). None where nothing says so.
    exact: acceptance, tokens and speed-up as fractions, where they are. alike: each draft token is from this law.
    """

    method: Method
    acceptance: Mean | None
    lookahead: int | None = None
    tokens: Mean | None = None
    calls: float | None = None
    speed_up: float | None = None
    exact: tuple[str, ...] = ()
    alike: bool = False

    @property
    def name(self) -> str:
        """The name of the line."""
        return called(self.method, self.alike)


class Bias(NamedTuple):
    """The total variation of the printed TokenTiming's first token from the target, for so many draft tokens.

    exact: over every draft; else sampled, and then a bound from below (`timing_bias.excesses`), of which the lower end
    of its interval is certain.
    """

    lookahead: int
    value: Mean
    exact: bool

    @property
    def certain(self) -> float:
        """The bias (exact), or what it is at least (sampled); 0 where too few drafts say nothing."""
        if self.exact:
            return self.value.value
        low, _ = self.value.interval
        return low if low > 0 else 0.0


@dataclass(frozen=True)
class DrafterLines:
    """One drafter: what it shares with the target, what it costs to know ψ, and a line a method.

    shared: tokens of both vocabularies. shared_mass: d(T), the draft's mass on them. untokenisable: the mass of drafted
    texts that begin with no target token. psi_calls: the laws that ψ asks of a drafter with context.
    """

    name: str
    size: int
    shared: int
    shared_mass: Mean
    untokenisable: Mean
    psi_calls: int
    lines: tuple[MethodLine, ...]
    biases: tuple[Bias, ...] = ()

    def line(self, method: Method, alike: bool = False) -> MethodLine | None:
        """Return the line of a method, None if it has none."""
        return next((line for line in self.lines if (line.method, line.alike) == (method, alike)), None)


@dataclass(frozen=True)
class VocabularyComparison:
    """Drafters of one target compared at some positions; `surest` is the mean of the target's largest mass.

    how: where the tokens per call are from: "exact", "Monte Carlo", or "laws" where laws alone are known.
    """

    source: str
    size: int
    positions: int
    draft_cost: float
    drafters: tuple[DrafterLines, ...]
    surest: Mean
    how: str


def advice(found: DrafterLines, surest: Mean) -> list[str]:
    """Say in sentences what Table 4 of Timor et al. says in words, from the numbers of one drafter."""
    said, slem = [_of_overlap(found)], found.line(SLEM)
    if slem is not None and slem.acceptance is not None:
        most = f"With any drafter it accepts at most the target's largest mass, {surest}"
        said.append(f"{SLEM.name} needs a target of low entropy. Here it accepts {slem.acceptance}. {most}.")
    said += _of_psi(found)
    said += [best] if (best := choice(found)) else []
    seen = [bias for bias in found.biases if bias.certain > 0]
    if seen:
        ways = " and ".join(
            f"{'' if bias.exact else 'at least '}{bias.certain:.4f} with {counted(bias.lookahead, 'draft token')}"
            for bias in seen
        )
        said.append(f"Do not take {TOKEN_TIMING.name}: its first token differs from the target by {ways}.")
    return said


def _of_overlap(found: DrafterLines) -> str:
    if not found.shared:
        return f"{TLI.name} and {UNION.name} need shared tokens. There is none, so neither drafts anything."
    tli, union = found.line(TLI), found.line(UNION)
    gain = ""
    if tli and union and tli.acceptance and union.acceptance:
        gain = f" {TLI.name} accepts {tli.acceptance}, {UNION.name} {union.acceptance} (never more: Theorem 4.1)."
    tokens = f"{found.shared:,} tokens are" if found.shared > 1 else "one token is"
    return (
        f"{TLI.name} needs a large overlap. Here {tokens} shared, and the draft has "
        f"{found.shared_mass} of its mass on them.{gain}"
    )


def _of_psi(found: DrafterLines) -> list[str]:
    slrs = found.line(SLRS)
    if slrs is None or slrs.acceptance is None:
        return []
    calls = slrs.calls if slrs.calls is not None else float(found.psi_calls)
    cut = f" ({found.psi_calls:,} until the first target token is determined)" if calls < found.psi_calls else ""
    pays = f" It pays off if a drafter call costs less than {slrs.acceptance.value / calls:.3g} of a target call."
    return [
        f"{SLRS.name} needs short tokens. Here it accepts {slrs.acceptance}, but ψ takes {calls:,.6g} drafter "
        f"call{'s' * (calls != 1)} a token{cut}.{pays if slrs.acceptance.value > 0 else ''}"
    ]


def choice(found: DrafterLines) -> str:
    """Say which method to take with one drafter, and how fast it is; nothing where no speed-up is known."""
    # The union never yields more than TLI; where both are equal Table 4 says to take TLI: it is dominated.
    known = [
        line for line in found.lines if line.method.lossless and line.speed_up is not None and not line.method.dominated
    ]
    if not known:
        return ""
    best = max(known, key=lambda line: line.speed_up or 0.0)
    if (best.speed_up or 0.0) <= 1:
        return (
            f"Take none: the speed-up of the best method, {best.name}, is only {best.speed_up:.3f}. The drafter is not "
            "accurate enough for its cost."
        )
    drafted = f" with {counted(best.lookahead, 'draft token')}" if best.lookahead else ""
    return f"Take {best.name}{drafted}: {best.speed_up:.3f} times as fast as plain decoding."
