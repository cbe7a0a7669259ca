"""What a comparison of drafters with vocabularies of their own holds: Table 3, tokens per call, cost, advice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from spec_math.mean import Mean
from spec_math.string_level.methods import SLEM, SLRS, TLI, TOKEN_TIMING, UNION, Method
from spec_math.wording import counted


def called(method: Method, alike: bool) -> str:
    """Return what a line is called: its method, and that every draft token is taken to have one law, where it is.

    >>> from spec_math.string_level import METHODS
    >>> called(METHODS[0], True).removeprefix(METHODS[0].name)
    ', every draft token from this law'
    """
    return f"{method.name}, every draft token from this law" if alike else method.name


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
        """What the line is called."""
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
        """What the bias is (exact), or is at least (sampled); 0 where too few drafts say nothing."""
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
    notes: tuple[str, ...] = field(default_factory=tuple)


def advice(found: DrafterLines, surest: Mean) -> list[str]:
    """Say in sentences what Table 4 of Timor et al. says in words, from the numbers of one drafter.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> advice(DrafterLines("bytes", 256, 0, nothing, nothing, 9, ()), nothing)[0]
    'TLI and union need shared tokens: there is none, so neither drafts at all.'
    """
    said = [_of_overlap(found), *_of_samples(found, surest), *_of_psi(found)]
    said += [best] if (best := choice(found)) else []
    seen = [bias for bias in found.biases if bias.certain > 0]
    if seen:
        ways = " and ".join(
            f"{'' if bias.exact else 'at least '}{bias.certain:.4f} with {counted(bias.lookahead, 'draft token')}"
            for bias in seen
        )
        said.append(f"{TOKEN_TIMING.name} is no choice: its first token is off the target by {ways} (total variation).")
    return said


def _of_overlap(found: DrafterLines) -> str:
    if not found.shared:
        return f"{TLI.name} and {UNION.name} need shared tokens: there is none, so neither drafts at all."
    tli, union = found.line(TLI), found.line(UNION)
    gain = ""
    if tli and union and tli.acceptance and union.acceptance:
        gain = f"; {TLI.name} accepts {tli.acceptance}, {UNION.name} {union.acceptance}, never more (Theorem 4.1)"
    tokens = f"{found.shared:,} tokens are" if found.shared > 1 else "one token is"
    return (
        f"{TLI.name} needs a large overlap: {tokens} shared, and the draft has "
        f"{found.shared_mass} of its mass on them{gain}."
    )


def _of_samples(found: DrafterLines, surest: Mean) -> list[str]:
    slem = found.line(SLEM)
    if slem is None or slem.acceptance is None:
        return []
    return [
        f"{SLEM.name} needs a target that is sure of itself: it accepts {slem.acceptance}, and no drafter "
        f"makes that more than the target's largest mass, {surest}."
    ]


def _of_psi(found: DrafterLines) -> list[str]:
    slrs = found.line(SLRS)
    if slrs is None or slrs.acceptance is None:
        return []
    calls = slrs.calls if slrs.calls is not None else float(found.psi_calls)
    cut = f" ({found.psi_calls:,} until the first target token is determined)" if calls < found.psi_calls else ""
    pays = f"; it pays if a drafter call costs less than {slrs.acceptance.value / calls:.3g} of a target call"
    return [
        f"{SLRS.name} needs short tokens: it accepts {slrs.acceptance}, but ψ takes {calls:,.6g} drafter "
        f"call{'s' * (calls != 1)} a token{cut}{pays if slrs.acceptance.value > 0 else ''}."
    ]


def choice(found: DrafterLines) -> str:
    """Say which method to take with one drafter, and how fast it is; nothing where no speed-up is known.

    >>> nothing = Mean(0.0, 0.0, 0)
    >>> choice(DrafterLines("bytes", 256, 0, nothing, nothing, 9, (MethodLine(SLEM, None, speed_up=1.5),)))
    'Take SLEM: 1.500 times as fast as plain decoding.'
    """
    # The union never yields more than TLI; where both are equal Table 4 says to take TLI: it is dominated.
    known = [
        line for line in found.lines if line.method.lossless and line.speed_up is not None and not line.method.dominated
    ]
    if not known:
        return ""
    best = max(known, key=lambda line: line.speed_up or 0.0)
    if (best.speed_up or 0.0) <= 1:
        return (
            f"Take none: the best method, {best.name}, reaches {best.speed_up:.3f}, and without drafts it is 1. The "
            "drafter is not accurate enough for what it costs."
        )
    drafted = f" with {counted(best.lookahead, 'draft token')}" if best.lookahead else ""
    return f"Take {best.name}{drafted}: {best.speed_up:.3f} times as fast as plain decoding."
