"""Proofs of somebody's own verifier: one that draws from more than its coin is left open, and its sources are named."""

from __future__ import annotations

from itertools import islice

from spec_math.pathwise.entropy import entropy_noted
from spec_math.pathwise.generators import Still
from spec_math.pathwise.tape import Tape
from spec_math.symbolic import Proof, Theorem, prove
from spec_math.symbolic.theorem import decided
from spec_math.symbolic.trial import SEED, Faces, laws_to_try
from spec_math.verdict import Reason

LOOKED_AT = 12
"""On so many laws a verifier is watched before it is proved: symbols draw from nothing, and solvers may."""


def prove_watched(theorem: Theorem, limit: float | None = None, seed: int = SEED) -> Proof:
    """Prove a theorem as `prove` does, unless its program draws from more than its coin on the first laws of a trial.

    >>> import random
    >>> found = prove_watched(Theorem("mine", "", lambda law: random.random() < 2, {"t": 2}))
    >>> found.verdict, found.undecided.name
    ('open', 'RANDOMNESS_NOT_SEEN')
    """
    unseen = hidden_randomness(theorem, seed)
    if not unseen:
        return prove(theorem, limit=limit, seed=seed)
    why = f"it draws from more than its coin: {'; '.join(unseen)}"
    left_open = Reason.RANDOMNESS_NOT_SEEN
    return Proof(theorem.name, theorem.scope, "open", 0, 0, 0, seconds=0.0, reason=why, undecided=left_open)


def hidden_randomness(theorem: Theorem, seed: int = SEED) -> list[str]:
    """Name the sources that a statement draws from on a few laws: generators that move, and the system's entropy.

    >>> hidden_randomness(Theorem("mine", "", lambda law: min(law) >= 0, {"t": 2}))
    []
    """
    tape = Tape()
    still = Still(tape.alive())
    with entropy_noted(tape):
        for point in islice(laws_to_try(theorem, Faces(), seed), LOOKED_AT):
            decided(theorem, point)
        unseen = list(tape.unseen)
    return [*unseen, *still.moved()]
