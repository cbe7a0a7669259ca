"""TokenTiming as printed (Alg. 1 and 2): re-tokenised drafts verified with probabilities mapped along an alignment.

Lossy: `bias` says by how much where both vocabularies are one. `timing_repaired` holds lossless variants.

Source: TokenTiming, Alg. 2 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

from spec_math.arrays import Array, array_namespace, as_laws, count, positive_part
from spec_math.block_level.conditionals import a_token_longer
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio
from spec_math.drafting import Outcome
from spec_math.drafting.correspondence import blank
from spec_math.language import TokenizedModel
from spec_math.masses import by_outcome
from spec_math.scheme import Emission, Tokens
from spec_math.string_level.alignment import align as align
from spec_math.string_level.alignment import band
from spec_math.string_level.exact_match import verified
from spec_math.string_level.reading import Reading, candidate, opened
from spec_math.string_level.rejection import emit
from spec_math.token_level import one_hot

WINDOW = 8
"""The band |i − j| ≤ w of the paper's experiments (Section 5.2.3, Appendix K)."""


def generate(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Run one iteration of Algorithm 2's loop as printed, and return the emitted target tokens.

    Lossy, in two ways: after a rejection line 19 draws from the target and not from a residual, and the probabilities
    that line 10 maps onto target tokens are not a probability distribution of these tokens. Prefix and result in target
    tokens.

    Read where the print is not enough: lines 4 and 5 decode the drafted tokens and encode the text; p(t_j) is the
    drafter's probability of the last draft token aligned with t_j; ties of the alignment go in the printed order; a
    band too narrow for the two lengths is widened to their difference; of a text that cannot be tokenised the tokens
    before the failure are verified; nothing follows the target's end.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    Source: TokenTiming, Alg. 2, lines 3 to 20.

    >>> from spec_math.chance import law
    >>> from spec_math.language import Vocabulary
    >>> words = Vocabulary(["a", "b"])
    >>> rows = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> target, drafter = (TokenizedModel(lambda prefix, row=row: row, words) for row in rows)
    >>> emitted = law(lambda coin: generate(coin, target, drafter, (), 1)[0])
    >>> {token: str(mass) for token, mass in emitted.items()}
    {0: '5/16', 1: '11/16'}
    """
    return run(coin, target, drafter, prefix, lookahead).tokens


def run(
    coin: Coin,
    target: TokenizedModel,
    drafter: TokenizedModel,
    prefix: Sequence[int],
    lookahead: int,
    window: int = WINDOW,
) -> Outcome:
    """Run one block as `generate` does, in a band of any width, and say what was drafted and accepted.

    Where the drafted text gives no target token the block is one plain sample of the target, and `fallback` says so.

    >>> from spec_math.chance import replay
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> replay(lambda coin: run(coin, target, drafter, (), 1), [0, 0.5, 0.9, 0.1])
    Outcome(tokens=(1, 0), drafted=(1, 1), accepted=1, fallback=None)
    """
    laws, reading = opened(target, drafter, prefix)
    said = reading.draw(coin, lookahead)
    drafted = candidate(target, laws.prefix, reading.text(said), 0)
    chances = iter(proposal(target, reading, said, drafted, window))

    def tested(token: int, row: Array) -> Emission:
        accepted = coin.flip(capped_ratio(row[token], next(chances)))
        return Emission(token if accepted else coin.draw(row), accepted)

    return verified(coin, laws, drafted, reading.text(said), tested)


def proposal(
    target: TokenizedModel, reading: Reading, said: Tokens, drafted: Tokens, window: int = WINDOW
) -> list[Any]:
    """Return p(t_j), what the algorithm takes for the drafter's probability of each re-tokenised token.

    said: draft tokens after the text that is read; drafted: their text in target tokens. Source: Alg. 2, lines 8 to 10.

    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: ["1/3", "2/3"], Vocabulary(["ab", "b"]))
    >>> proposal(target, Reading(drafter, b""), (0, 1), (0, 1, 1))
    [Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)]
    """
    spelled = [reading.text((token,)) for token in said], [target.vocabulary[token] for token in drafted]
    return mapped(*spelled, [reading(said[:place])[token] for place, token in enumerate(said)], window)


def mapped(drafted: Sequence[bytes], retokenised: Sequence[bytes], proposed: Sequence[Any], window: int) -> list[Any]:
    """Return p(t_j) for each re-tokenised token: the probability of the last draft token aligned with it.

    Where many draft tokens make one target token, that of the last of them; where one makes many, its own, copied.
    A band that holds no path is widened to the difference of the lengths. An end without text aligns like any token.
    Source: TokenTiming, Alg. 2, line 10, and Appendix A.2.

    >>> mapped([b"S", b"cal", b"ing"], [b"Scal", b"ing"], ["p1", "p2", "p3"], window=8)
    ['p2', 'p3']
    """
    if not retokenised:
        return []
    path, _ = align(drafted, retokenised, band(len(drafted), len(retokenised), window))
    last = {j: i for i, j in path}
    return [proposed[last[j]] for j in range(len(retokenised))]


def first_token_law(target: Any, draft: Any) -> Array:
    """Return the law of the first token emitted where both vocabularies are one: min(t, d) + TV·t, for laws [..., V].

    It is the target's if and only if d/t is the same wherever t has mass.

    Raises:
        ValueError, TypeError: a law is not a probability distribution; exact and floating laws are mixed.

    >>> [str(mass) for mass in first_token_law(["1/4", "3/4"], ["1/2", "1/2"])]
    ['5/16', '11/16']
    """
    t, d = as_laws(target, draft)
    xp = array_namespace(t)
    return xp.minimum(t, d) + xp.sum(positive_part(t - d), axis=-1, keepdims=True) * t


def bias(target: Any, draft: Any) -> Any:
    """Return the total variation between `first_token_law` and the target: Σ ((1 − TV)·t − min(t, d))+, laws [..., V].

    The measure of how lossy the printed algorithm is at a position where both vocabularies are one. A probability.

    Raises:
        ValueError, TypeError: as `first_token_law`.

    >>> bias(["1/4", "3/4"], ["1/2", "1/2"])
    Fraction(1, 16)
    """
    t, d = as_laws(target, draft)
    xp = array_namespace(t)
    kept = xp.minimum(t, d)
    return xp.sum(positive_part(xp.sum(kept, axis=-1, keepdims=True) * t - kept), axis=-1)


MOST = 1_000_000
"""The most sequences of draft tokens that are walked."""


class RetokenisedLaw:
    """The law of the target tokens that a drafted text is read as, drafted to a fixed lookahead.

    {target tokens: mass}, over all D^lookahead sequences of draft tokens with mass; a drafter's end stops one early.

    Raises:
        ValueError: there are more sequences than `MOST`; lookahead is below 1. TypeError: lookahead is not a positive
            integer.

    >>> from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> law = RetokenisedLaw(Reading(drafter, b""), GreedyTokenizer(Vocabulary(["b", "a", "ab"])).encode, 2)
    >>> {tokens: str(mass) for tokens, mass in law.masses.items()}
    {(1, 1): '1/4', (2,): '1/4', (0, 1): '1/4', (0, 0): '1/4'}
    """

    def __init__(self, reading: Reading, read: Callable[[bytes], Tokens], lookahead: int) -> None:
        self._like = reading(())
        sequences = _sequences(reading, count(lookahead, "lookahead"))
        self.masses: dict[Tokens, Any] = by_outcome((read(reading.text(said)), mass) for said, mass in sequences)
        # The probability that the target tokens begin with these, {beginning: mass}.
        self._begins = by_outcome(
            (tokens[:place], mass) for tokens, mass in self.masses.items() for place in range(len(tokens) + 1)
        )

    def after(self, tokens: Tokens, size: int) -> Array:
        """Return the law [size] of the next target token given the first ones, a sub-law: the text may end instead.

        >>> from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
        >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
        >>> law = RetokenisedLaw(Reading(drafter, b""), GreedyTokenizer(Vocabulary(["b", "a", "ab"])).encode, 2)
        >>> [str(mass) for mass in law.after((), 3)], [str(mass) for mass in law.after((2,), 3)]
        (['1/2', '1/4', '1/4'], ['0', '0', '0'])
        """
        row = blank(self._like, size)
        whole = self._begins[tokens]
        for token in range(size):
            if (*tokens, token) in self._begins:
                row[token] = self._begins[*tokens, token] / whole
        return row


def _sequences(reading: Reading, lookahead: int) -> list[tuple[Tokens, Any]]:
    running: list[tuple[Tokens, Any]] = [((), reading(()).sum() * 0 + 1)]
    for _ in range(lookahead):
        onward = a_token_longer(running, lambda said: said[-1:] == (reading.end,), reading)
        running = list(islice(onward, MOST + 1))
        if len(running) > MOST:
            raise ValueError(
                f"a lookahead of {lookahead} makes more than {MOST:,} sequences of draft tokens; draft fewer, or "
                "verify the draft as deterministic (timing.deterministic)"
            )
    return running


def deterministic(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Verify each re-tokenised token x as a deterministic draft: accept with chance t(x), else draw from t without x.

    The law: the tokens, continued by the target, have the target's joint law, as x never saw the verifier's coins. The
    law of the blocks is that of SLEM, but where the target's tokeniser loses text: SLEM then aligns the draft with the
    tokens before it. These are the one-hot rows that the paper's Limitations mention ("the probability form calculated
    in TokenTiming is one-hot"), with the residual that belongs to them.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> law(lambda coin: deterministic(coin, target, drafter, (), 1))[0,]
    Fraction(1, 4)
    """
    laws, reading = opened(target, drafter, prefix)
    text = reading.text(reading.draw(coin, lookahead))
    drafted = candidate(target, laws.prefix, text, 0)
    return verified(coin, laws, drafted, text, partial(one_hot.emit, coin)).tokens


def conditional(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Tokens:
    """Verify each re-tokenised token by rejection against its own law given the re-tokenised tokens before it.

    That law is summed over every sequence of draft tokens (`RetokenisedLaw`), exponentially many in the lookahead; the
    first one is ψ of the lookahead. Where the drafted text ends, the next token has no draft, which counts as a
    rejection. The law: the tokens, continued by the target, have the target's joint law.

    Raises:
        ValueError, TypeError: as `deterministic`; too many sequences of draft tokens.

    >>> from spec_math.chance import law
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> law(lambda coin: conditional(coin, target, drafter, (), 1))[0,]
    Fraction(1, 4)
    """
    return run_conditional(coin, target, drafter, prefix, lookahead).tokens


def run_conditional(
    coin: Coin, target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int], lookahead: int
) -> Outcome:
    """Run one block as `conditional` does, and say what was drafted and accepted.

    >>> from spec_math.chance import replay
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> replay(lambda coin: run_conditional(coin, target, drafter, (), 1), [0, 0.5, 0.9, 0.1])
    Outcome(tokens=(1, 0), drafted=(1, 1), accepted=1, fallback=None)
    """
    laws, reading = opened(target, drafter, prefix)
    drafted = candidate(target, laws.prefix, reading.text(reading.draw(coin, lookahead)), 0)
    proposal = RetokenisedLaw(reading, lambda text: candidate(target, laws.prefix, text, 0), lookahead)
    tokens: Tokens = ()
    for token in (*drafted, None):
        emission: Emission = emit(coin, token, laws.target(tokens), proposal.after(tokens, laws.size))
        if not emission.accepted:
            return Outcome((*tokens, emission.token), drafted, len(tokens))
        tokens = (*tokens, emission.token)
        if laws.ends(tokens):
            break
    return Outcome(tokens, drafted, len(tokens))
