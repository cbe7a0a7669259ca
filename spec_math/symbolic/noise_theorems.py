"""Theorems about shared noise, for all laws: what one draft is met with at least, and never more than the overlap.

Source: the theorem page `shared_noise` of the book; the bound is that of Daliri et al. 2024.
"""

from __future__ import annotations

from spec_math.arrays import Array
from spec_math.distribution import overlap
from spec_math.symbolic.claims import Fails, Holds
from spec_math.symbolic.theorem import Theorem
from spec_math.token_level import shared_noise
from spec_math.wording import counted


def theorems() -> tuple[Theorem, ...]:
    """Return the theorem for one and two drafts on two tokens.

    >>> [theorem.name for theorem in theorems()]
    ['shared noise: at least (1 − TV)/(1 + TV)', 'shared noise: at least (1 − TV)/(1 + TV)']
    """
    return at_least(2, 1), at_least(2, 2)


def at_least(tokens: int, drafts: int) -> Theorem:
    """Return the theorem: a draft is emitted with (1 − TV)/(1 + TV) at least, and one draft with 1 − TV at most.

    >>> at_least(2, 1).scope
    'all laws on 2 tokens, 1 draft'
    """

    def statement(target: Array, draft: Array) -> Holds | Fails:
        shared, found = overlap(target, draft), shared_noise.least(target, draft, drafts)
        if found * (2 - shared) < shared:
            return Fails("the acceptance", found, shared / (2 - shared))
        if drafts == 1 and found > shared:
            return Fails("the acceptance", found, shared)
        return Holds()

    scope = f"all laws on {tokens} tokens, {counted(drafts, 'draft')}"
    return Theorem("shared noise: at least (1 − TV)/(1 + TV)", scope, statement, {"t": tokens, "d": tokens})
