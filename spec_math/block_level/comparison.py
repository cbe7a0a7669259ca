"""How many tokens each method accepts on average, beside the most that any verifier of the same drafts can.

Source: SpecTr, Tables 2 and 4, for the quantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.block_level import optimum
from spec_math.block_level.method import CHAINS
from spec_math.block_level.methods import METHODS
from spec_math.block_level.optimum import OptimalLength
from spec_math.language.model import Model
from spec_math.verdict import Bracket


def of_chains(
    target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> tuple[dict[str, Any], OptimalLength | Bracket]:
    """Return {method: expected tokens per call} for k i.i.d. chains, and the optimum of all verifiers.

    The methods of one chain stand beside them, to show what k chains add. Exact on Fractions; for toy models:
    V^lookahead prefixes, and V^k drafts a node.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> tokens, best = of_chains(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], (), 2, 2)
    >>> tokens["chain priorities"], best.tokens_per_call
    (Fraction(23, 8), Fraction(23, 8))
    """
    models = target_model, draft_model, tuple(prefix)
    tokens = {method.name: method.expected(*models, lookahead, k) for method in METHODS if method.drafts is CHAINS}
    return tokens, optimum.tokens_per_call(*models, lookahead, k)
