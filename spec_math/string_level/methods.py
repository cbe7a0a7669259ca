"""Every method for two vocabularies, each with a generator of one shape, and what it asks of a drafter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from spec_math.chance import Coin
from spec_math.drafting import intersection, union
from spec_math.language import Speaker
from spec_math.scheme import Tokens
from spec_math.string_level import exact_match, rejection, timing

Generate = Callable[[Coin, Speaker, Speaker, Sequence[int], int], Tokens]
"""From a coin, target, drafter, a prefix in target tokens and a lookahead in draft tokens to the emitted tokens."""


class Method(NamedTuple):
    """A method, the constraint that Timor et al., Table 4, puts on its drafter, and whether it is lossless.

    >>> [method.name for method in METHODS if not method.lossless]
    ['TokenTiming as printed']
    """

    name: str
    generate: Generate
    needs: str
    lossless: bool = True


METHODS: tuple[Method, ...] = (
    Method("union", union.generate, "not applicable: TLI accepts at least as much"),
    Method("TLI", intersection.generate, "accurate, large overlap of vocabularies"),
    Method("SLEM", exact_match.generate, "accurate"),
    Method("SLRS", rejection.generate, "accurate, short tokens"),
    Method("TokenTiming as printed", timing.generate, "no row in Table 4; lossy", lossless=False),
    Method("TokenTiming, deterministic", timing.deterministic, "no row in Table 4; as SLEM"),
    Method("TokenTiming, conditional", timing.conditional, "no row in Table 4; few and short tokens"),
)
