"""Token-level intersection, TLI (Timor et al., Alg. 4): the draft restricted to the tokens that the target has too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from spec_math.arrays import Array, array_namespace, check_same_number_type, count, divide, zeros_like
from spec_math.block_level import chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.drafting.correspondence import carried, law_after, on_vocabulary, places
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.language.model import Model
from spec_math.scheme import Tokens


class NoOverlapError(ValueError):
    """The draft puts no mass on the target's tokens, so that its restriction to them is no distribution."""


def draft_law(draft: Any, target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> Array:
    """Return TLI's draft law [..., T]: d(x) / d(T) on T ∩ D, 0 on the rest of T.

    Raises:
        NoOverlapError: a ValueError; d(T) = 0, so that there is no such law.
        ValueError, TypeError: the masses are not a probability distribution on the draft vocabulary.

    Source: Timor et al., Alg. 4, line 4.

    >>> draft_law(["1/3", "1/3", "1/3"], Vocabulary(["a", "b"]), Vocabulary(["a", "b", "c"])).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    shared, _ = carried(draft, target_vocabulary, draft_vocabulary)
    totals = array_namespace(shared).sum(shared, axis=-1, keepdims=True)
    if bool((totals == 0).any()):
        common = bool((places(target_vocabulary, draft_vocabulary) >= 0).any())
        raise NoOverlapError(
            f"TLI's draft is undefined: the draft has mass 0 on the {len(target_vocabulary)} target tokens "
            f"({'none of those in common has mass' if common else 'there is no token in common'}), and a restriction "
            "divides by that mass; draft by text (SLEM, SLRS), or let the target go on alone, as intersection.generate"
        )
    return shared / totals


def acceptance(target: Any, draft: Any, target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> Any:
    """Return Σ_{T∩D} min(t, d/d(T)), the probability that the first draft is accepted; 0 where d(T) = 0.

    Laws [..., T] and [..., D]. Never less than `union.acceptance`; equal if and only if d(T) = 1, or t ≤ d wherever d
    has mass on T ∩ D (Theorem 4.1). Source: Timor et al., Table 3.

    Raises:
        ValueError, TypeError: a law is not a probability distribution or not on its vocabulary; exact and floating laws
            are mixed.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], Vocabulary(["a", "b"]), Vocabulary(["b", "c"]))
    Fraction(3, 4)
    """
    t = on_vocabulary(target, target_vocabulary, "target")
    shared, _ = carried(draft, target_vocabulary, draft_vocabulary)
    check_same_number_type(t, shared)
    xp = array_namespace(t)
    totals = xp.sum(shared, axis=-1, keepdims=True)
    return xp.sum(xp.minimum(t, divide(shared, totals, zeros_like(shared))), axis=-1)


def model(drafter: TokenizedModel, target_vocabulary: Vocabulary) -> Model:
    """Return the drafter as a model on the target's tokens, which every verifier of blocks takes.

    It is conditioned on the text so far in its own tokens (`TokenizedModel.read`). Where its law has no mass on T it
    raises NoOverlapError.

    >>> drafter = TokenizedModel(lambda prefix: ["1/3", "1/3", "1/3"], Vocabulary(["a", "b", "c"]))
    >>> model(drafter, Vocabulary(["a", "b"]))((0,)).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    return lambda prefix: draft_law(
        law_after(drafter, target_vocabulary, prefix), target_vocabulary, drafter.vocabulary
    )


def generate(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Draft up to `lookahead` tokens of T ∩ D and verify them token by token; return the emitted target tokens.

    The law: the tokens, continued by the target, have the target's joint law. Source: Timor et al., Alg. 4.

    Raises:
        ValueError, TypeError: as `block_level.chain.generate`; never NoOverlapError, see `run`.

    >>> from spec_math.chance import law
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["b", "c"]))
    >>> law(lambda coin: generate(coin, target, drafter, (), 1))
    {(1, 0): Fraction(3, 16), (1, 1): Fraction(9, 16), (0,): Fraction(1, 4)}
    """
    return run(coin, target, drafter, prefix, lookahead).tokens


def run(coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int) -> Outcome:
    """Run one block as `generate` does, and say what was drafted and accepted.

    Where the draft has no mass on the target's tokens drafting ends, and what has been drafted is verified; if that is
    nothing, the block is one plain sample of the target, and `fallback` says so.

    >>> from spec_math.chance import replay
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["c"]))
    >>> replay(lambda coin: run(coin, target, drafter, (), 3), [0.5]).fallback[:26]
    "TLI's draft is undefined: "
    """
    laws = Conditionals(target.model, model(drafter, target.vocabulary), prefix)
    tokens: Tokens = ()
    for _ in range(count(lookahead, "lookahead")):
        try:
            row = laws.draft(tokens)
        except NoOverlapError as error:
            if not tokens:
                return Outcome((coin.draw(laws.target()),), (), 0, str(error))
            break
        tokens = (*tokens, coin.draw(row))
        if laws.ends(tokens):
            break
    emitted = chain.verify(coin, *chain.with_rows(tokens, laws))
    # The residual of a rejected draft leaves it out, so that the first difference is the first rejection.
    accepted = sum(emitted[: place + 1] == tokens[: place + 1] for place in range(len(tokens)))
    return Outcome(emitted, tokens, accepted)


class Outcome(NamedTuple):
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
