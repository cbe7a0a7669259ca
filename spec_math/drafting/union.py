"""The union strategy (Timor et al., Alg. 1): both models as laws on T ∪ D, so that any verifier runs on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, check_same_number_type
from spec_math.block_level import chain
from spec_math.chance import Coin
from spec_math.distribution import overlap
from spec_math.drafting.correspondence import Ending, blank, carried, on_vocabulary, places
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.language.model import Model
from spec_math.scheme import Tokens


def laws(target: Any, draft: Any, target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> tuple[Array, Array]:
    """Return both laws [..., T ∪ D] on the union: the target's tokens in their order, then the draft's others.

    The law: t'(x) = t(x) on T and 0 beyond, d'(x) = d(x) on D and 0 beyond. Source: Timor et al., Alg. 1, line 4.

    Raises:
        ValueError, TypeError: a law is not a probability distribution or not on its vocabulary; exact and floating laws
            are mixed.

    >>> target, draft = laws(["1/4", "3/4"], ["1/2", "1/2"], Vocabulary(["a", "b"]), Vocabulary(["b", "c"]))
    >>> [str(mass) for mass in target], [str(mass) for mass in draft]
    (['1/4', '3/4', '0'], ['0', '1/2', '1/2'])
    """
    t = on_vocabulary(target, target_vocabulary, "target")
    shared, beyond = carried(draft, target_vocabulary, draft_vocabulary)
    check_same_number_type(t, shared)
    xp = array_namespace(t)
    return xp.concat([t, blank(t, beyond.shape[-1])], axis=-1), xp.concat([shared, beyond], axis=-1)


def acceptance(target: Any, draft: Any, target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> Any:
    """Return Σ_{T∩D} min(t, d), the probability that the first draft is accepted, for laws [..., T] and [..., D].

    Raises:
        ValueError, TypeError: as `laws`.

    Source: Timor et al., Table 3.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], Vocabulary(["a", "b"]), Vocabulary(["b", "c"]))
    Fraction(1, 2)
    """
    return overlap(*laws(target, draft, target_vocabulary, draft_vocabulary))


def models(target: TokenizedModel, drafter: TokenizedModel) -> tuple[Model, Model]:
    """Return target and drafter as models on T ∪ D, which every verifier of blocks takes.

    The drafter is conditioned on the text so far in its own tokens. The target has no law after a token it does not
    know: it is given that token's text. No verifier keeps such a token, as its target mass is 0, so that this law
    is never used.

    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> draft = models(target, TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["b", "c"])))[1]
    >>> draft(()).tolist()
    [Fraction(0, 1), Fraction(1, 2), Fraction(1, 2)]
    """
    extra = np.flatnonzero(places(target.vocabulary, drafter.vocabulary) < 0)
    written = target.vocabulary.tokens + tuple(drafter.vocabulary[int(token)] for token in extra)

    size = len(target.vocabulary)

    def extended(prefix: Tokens) -> Array:
        known = all(token < size for token in prefix)
        row = target.law(prefix if known else target.read(b"".join(written[token] for token in prefix)))
        return array_namespace(row).concat([row, blank(row, len(written) - size)], axis=-1)

    def draft(prefix: Tokens) -> Array:
        text = b"".join(written[token] for token in prefix)
        shared, beyond = carried(drafter.law(drafter.read(text)), target.vocabulary, drafter.vocabulary)
        return array_namespace(shared).concat([shared, beyond], axis=-1)

    return Ending(extended, target.end), draft


def generate(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Draft `lookahead` tokens and verify them token by token on T ∪ D; return the emitted target tokens.

    The law: the tokens, continued by the target, have the target's joint law. Source: Timor et al., Alg. 1.

    Raises:
        ValueError, TypeError: as `block_level.chain.generate`.

    >>> from spec_math.chance import law
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [0, 1], Vocabulary(["b", "c"]))
    >>> law(lambda coin: generate(coin, target, drafter, (), 1))
    {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    """
    return chain.generate(coin, *models(target, drafter), prefix, lookahead)
