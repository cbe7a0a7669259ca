"""String-level exact match, SLEM (Timor et al., Alg. 2): drafted text, re-tokenised, against samples of the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from spec_math.arrays import SUM_BOUND, Array, array_namespace, asarray, check_same_number_type, is_exact, storage
from spec_math.arrays import as_law as checked
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.drafting import Outcome
from spec_math.language import TokenizedModel
from spec_math.scheme import Emission, Tokens
from spec_math.string_level.reading import candidate, opened
from spec_math.token_level import sample_and_match

LOOKBEHIND = 10
"""How many tokens of the prefix a drafted text is aligned with, where the target's tokeniser loses text."""


def acceptance(target: Any, first_token_law: Any) -> Any:
    """Return Σ_T t·ψ, the probability that the first re-tokenised token is accepted, for ψ of the lookahead [..., T].

    ψ may sum to less than 1 (`psi.first_token`): drafted text that begins with no target token is accepted nowhere.

    Raises:
        ValueError, TypeError: the target is not a probability distribution, ψ no sub-law on the same tokens.

    Source: Timor et al., Table 3.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/4"])
    Fraction(5, 16)
    """
    t, found = with_target(target, first_token_law)
    return array_namespace(t).sum(t * found, axis=-1)


def generate(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Draft `lookahead` draft tokens, re-tokenise their text, and emit target samples up to the first that differs.

    The law: the target's own, token by token, whatever was drafted: the draft decides only how many are emitted.
    Prefix and result in target tokens. No token follows the target's end. Source: Timor et al., Alg. 2, whose line 10
    compares a t_{m+1} that does not exist: the sample after the whole draft counts as differing.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> law(lambda coin: generate(coin, target, drafter, (), 1))[0,]
    Fraction(1, 4)
    """
    return run(coin, target, drafter, prefix, lookahead).tokens


def run(
    coin: Coin,
    target: TokenizedModel,
    drafter: TokenizedModel,
    prefix: Sequence[int],
    lookahead: int,
    lookbehind: int = LOOKBEHIND,
) -> Outcome:
    """Run one block as `generate` does, and say what was drafted, in target tokens, and how much of it was accepted.

    Where the drafted text gives no target token the block is one plain sample of the target, and `fallback` says so.
    lookbehind: see `realignment.candidate`.

    >>> from spec_math.chance import replay
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> replay(lambda coin: run(coin, target, drafter, (), 1), [0, 0.5, 0.1])
    Outcome(tokens=(1, 0), drafted=(1, 1), accepted=1, fallback=None)
    """
    laws, reading = opened(target, drafter, prefix)
    text = reading.text(reading.draw(coin, lookahead))
    drafted = candidate(target, laws.prefix, text, lookbehind)
    return verified(coin, laws, drafted, text, partial(sample_and_match.emit, coin))


def verified(
    coin: Coin, laws: Conditionals, drafted: Tokens, text: bytes, emit: Callable[[int, Array], Emission]
) -> Outcome:
    """Verify the target tokens of a drafted text one after another by emit(token, target's law [V]), and add a token.

    The block ends with the first token that is rejected, or with the target's end.

    >>> from spec_math.chance import replay
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/4", "3/4"], ())
    >>> replay(lambda coin: verified(coin, laws, (0, 0), b"aa", partial(sample_and_match.emit, coin)), [0.1, 0.5])
    Outcome(tokens=(0, 1), drafted=(0, 0), accepted=1, fallback=None)
    """
    tokens: Tokens = ()
    for token in drafted:
        emission = emit(token, laws.target(tokens))
        tokens = (*tokens, emission.token)
        if not emission.accepted:
            return Outcome(tokens, drafted, len(tokens) - 1)
        if laws.ends(tokens):
            return Outcome(tokens, drafted, len(tokens))
    fallback = None if drafted else nothing_drafted(text)
    return Outcome((*tokens, coin.draw(laws.target(tokens))), drafted, len(tokens), fallback)


def nothing_drafted(text: bytes) -> str:
    """Say why a drafted text gives no target token.

    >>> nothing_drafted(b"")
    'nothing was drafted: the drafter ended its text at once'
    """
    if not text:
        return "nothing was drafted: the drafter ended its text at once"
    return f"nothing was drafted: the text {text!r} begins with no target token"


def with_target(target: Any, first_token_law: Any) -> tuple[Array, Array]:
    """Check a target law [..., T] and a sub-law on the same tokens, such as ψ: masses >= 0 that sum to at most 1.

    Raises:
        ValueError: the target is not a probability distribution, a mass is negative, the sum exceeds 1, or the shapes
            differ.
        TypeError: exact and floating masses are mixed.

    >>> with_target(["1/4", "3/4"], ["1/2", "1/4"])[1].tolist()
    [Fraction(1, 2), Fraction(1, 4)]
    >>> with_target(["1/4", "3/4"], ["1/2", "3/4"])
    Traceback (most recent call last):
    ValueError: first-token masses must sum to at most 1; a row sums to 5/4, 1/4 too much
    """
    t, found = checked(target, "target"), asarray(first_token_law)
    check_same_number_type(t, found)
    if t.shape != found.shape:
        raise ValueError(
            f"a first-token distribution has the order and shape {tuple(t.shape)} of the target's tokens; got "
            f"{tuple(found.shape)}"
        )
    if bool((found < 0).any()):
        raise ValueError("first-token masses must be >= 0; one is negative")
    most = array_namespace(found).sum(found, axis=-1, keepdims=True).max()
    bound = 0 if is_exact(found) else SUM_BOUND.get(storage(found), SUM_BOUND["float64"])
    if not most <= 1 + bound:
        raise ValueError(f"first-token masses must sum to at most 1; a row sums to {most}, {most - 1} too much")
    return t, found
