"""What a comparison over positions holds: a line a scheme and a line an optimum, with their means."""

from __future__ import annotations

from dataclasses import dataclass, field

from spec_math.invariants import Watch
from spec_math.report.positions import FLOAT
from spec_math.report.tally import Tally
from spec_math.scheme import Optimum, Scheme


@dataclass
class Line:
    """One scheme of a comparison, or one optimum: its means a k, and whether only some positions were looked at.

    `gaps` are against the optimum of the scheme's own drafts, position by position.
    """

    name: str
    kind: Optimum | None
    scheme: Scheme | None = None
    membership: dict[int, Tally] = field(default_factory=dict[int, Tally])
    acceptance: dict[int, Tally] = field(default_factory=dict[int, Tally])
    gaps: dict[int, Tally] = field(default_factory=dict[int, Tally])

    @property
    def sampled(self) -> bool:
        """Whether only some positions are looked at: there is no form of it over many positions."""
        held = self.scheme or self.kind
        return held is None or held.streamed is None


@dataclass(frozen=True)
class Hardest:
    """The position where even the optimum of i.i.d. drafts is least, with its laws [V]."""

    position: int
    optimum: float
    target: FLOAT
    draft: FLOAT


@dataclass
class Comparison:
    """What `compare` found: a line a scheme and a line an optimum, over `count` positions of V tokens.

    `watch` knows which of the numbers contradict each other: `watch.hold` comes before any of them is shown.
    """

    source: str
    count: int
    size: int
    ks: tuple[int, ...]
    lines: list[Line]
    optima: list[Line]
    watch: Watch = field(default_factory=Watch)
    sum_error: float = 0.0
    sampled: int = 0
    hardest: Hardest | None = None

    def gap(self, line: Line, k: int) -> float | None:
        """Return how much more the optimum of the scheme's own drafts accepts on average; None where it is unknown."""
        tally = line.gaps.get(k)
        return tally.mean if tally is not None and tally.count else None


def scheme_line(scheme: Scheme, ks: tuple[int, ...]) -> Line:
    """Return the empty line of a scheme, for each k, or for the number of drafts that it fixes.

    >>> from spec_math import SCHEMES
    >>> list(scheme_line(SCHEMES[0], (1, 2)).membership)
    [1]
    """
    line = Line(scheme.name, scheme.optimum, scheme)
    for k in ks if scheme.drafts is None else (scheme.drafts,):
        line.membership[k], line.acceptance[k], line.gaps[k] = Tally(), Tally(), Tally()
    return line


def optimum_line(kind: Optimum, ks: tuple[int, ...]) -> Line:
    """Return the empty line of an optimum.

    >>> from spec_math.token_level.optima import INDEPENDENT
    >>> optimum_line(INDEPENDENT, (1,)).name
    'optimum, i.i.d. drafts'
    """
    line = Line(f"optimum, {kind.drafts}", kind)
    line.membership = {k: Tally() for k in ks}
    return line
