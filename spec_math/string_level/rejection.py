"""String-level rejection sampling, SLRS (Timor et al., Alg. 3): the first token of a drafted text against its law ψ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import array_namespace, positive_part
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, normalised
from spec_math.drafting import Outcome
from spec_math.language import GreedyTokenizer, TokenizedModel, UntokenisableError, Vocabulary
from spec_math.scheme import Emission, Tokens
from spec_math.string_level.exact_match import nothing_drafted, verified, with_target
from spec_math.string_level.psi import psi
from spec_math.string_level.reading import Reading, opened


def acceptance(target: Any, first_token_law: Any) -> Any:
    """Return Σ_T min(t, ψ), the probability that the first token is accepted, for ψ of the lookahead [..., T].

    At least `exact_match.acceptance` of the same ψ. ψ may sum to less than 1: what is missing is rejected.

    Raises:
        ValueError, TypeError: the target is not a probability distribution, ψ no sub-law on the same tokens.

    Source: Timor et al., Table 3.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/4"])
    Fraction(1, 2)
    """
    t, found = with_target(target, first_token_law)
    xp = array_namespace(t)
    return xp.sum(xp.minimum(t, found), axis=-1)


def emit(coin: Coin, token: int | None, target: Any, first_token_law: Any) -> Emission:
    """Accept the first token x of a drafted text with chance min(1, t(x)/ψ(x)), else draw from (t − ψ)+ normalised.

    The law: the emitted token has the target's law, if x has the law ψ; token None, a text that begins with no target
    token, is rejected. Laws [T], in the order of the target's vocabulary. Where ψ = t nothing is ever rejected and the
    residual, 0/0 as printed, is not looked at.
    Source: Timor et al., Alg. 3, lines 6 to 8, Theorem 3.2.

    Raises:
        ValueError: ψ has no mass on the token; the target is not a probability distribution, ψ no sub-law.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, None, ["1/4", "3/4"], ["1/2", "1/4"]))
    {Emission(token=1, accepted=False): Fraction(1, 1)}
    """
    t, found = with_target(target, first_token_law)
    if token is not None:
        if found[token] == 0:
            raise ValueError(
                f"the first-token distribution puts no mass on the token {token} that was drafted; compute it with the "
                "lookahead that the text was drafted with"
            )
        if coin.flip(capped_ratio(t[token], found[token])):
            return Emission(token, accepted=True)
    return Emission(coin.draw(normalised(positive_part(t - found), t)), accepted=False)


def generate(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Draft until the first target token is determined, verify it, and add one token of the target if it is accepted.

    At most `lookahead` draft tokens are drawn, and ψ is that of this lookahead. The law: the tokens, continued by the
    target, have the target's joint law. Prefix and result in target tokens. No token follows the target's end.

    Algorithm 3 returns the one token, so that each call of the target would yield exactly one (`emit` is that step);
    the row after the drafted token comes from the same call, and adds a token for nothing, as in Algorithms 2 and 5.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    Source: Timor et al., Alg. 3. Its T(·) is longest-prefix tokenisation, whatever the target's own way of reading.

    >>> from spec_math.chance import law
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> law(lambda coin: generate(coin, target, drafter, (), 1))
    {(1, 0): Fraction(3, 16), (1, 1): Fraction(9, 16), (0,): Fraction(1, 4)}
    """
    return run(coin, target, drafter, prefix, lookahead).tokens


def run(coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int) -> Outcome:
    """Run one block as `generate` does, and say what was drafted and whether it was accepted.

    Where the drafted text begins with no target token it counts as rejected, the token emitted is one of the residual,
    and `fallback` says why nothing was drafted.

    >>> from spec_math.chance import replay
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> replay(lambda coin: run(coin, target, drafter, (), 1), [0, 0.5, 0.1])
    Outcome(tokens=(1, 0), drafted=(1,), accepted=1, fallback=None)
    """
    laws, reading = opened(target, drafter, prefix)
    text = draw(coin, reading, target.vocabulary, lookahead)
    token = GreedyTokenizer(target.vocabulary).first(text)
    found = psi(target.vocabulary, drafter.vocabulary, reading, lookahead)
    if token is None:
        return Outcome((emit(coin, None, laws.target(), found).token,), (), 0, nothing_drafted(text))
    return verified(coin, laws, (token,), text, lambda x, row: emit(coin, x, row, found))


def draw(coin: Coin, reading: Reading, target_vocabulary: Vocabulary, lookahead: int) -> bytes:
    """Draw draft tokens until the first target token of their text is determined, at most `lookahead`; return the text.

    The law of the first token of that text is `psi` of the same lookahead.

    Raises:
        TypeError, ValueError: lookahead is not a positive integer.

    >>> from spec_math.chance import law
    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> law(lambda coin: draw(coin, Reading(drafter, b""), Vocabulary(["b", "ab"]), 2))
    {b'aa': Fraction(1, 4), b'ab': Fraction(1, 4), b'b': Fraction(1, 2)}
    """
    tokenizer = GreedyTokenizer(target_vocabulary)
    return reading.text(reading.draw(coin, lookahead, lambda drafted: determined(tokenizer, reading.text(drafted))))


def determined(tokenizer: GreedyTokenizer, text: bytes) -> bool:
    """Say whether no continuation of a text changes its first token, or whether it has one.

    >>> tokenizer = GreedyTokenizer(Vocabulary(["a", "abc"]))
    >>> [determined(tokenizer, text) for text in (b"", b"ab", b"abc", b"b")]
    [False, False, True, True]
    """
    try:
        return bool(tokenizer.settled(text)[0])
    except UntokenisableError:
        return True
