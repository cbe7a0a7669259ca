"""The outcome of one call of the target: the tokens emitted, what was drafted, and why nothing was, where nothing was.

Source: Timor et al., Alg. 2 to 5, for what a run returns.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec_math.scheme import Tokens


@dataclass(frozen=True)
class Outcome:
    """The tokens that a block emits, all in target tokens, and how they came about.

    drafted: what the target was asked to verify. accepted: how many of them a test accepted, from the first on.
    fallback: why nothing was drafted, so that the one token emitted is a plain sample of the target; None otherwise.

    >>> Outcome((0, 1), drafted=(0,), accepted=1).fallback is None
    True
    """

    tokens: Tokens
    drafted: Tokens
    accepted: int
    fallback: str | None = None
