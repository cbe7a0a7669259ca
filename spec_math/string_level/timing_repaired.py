"""TokenTiming repaired, twice: the re-tokenised draft as deterministic, and verified against its own law."""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.chance import Coin
from spec_math.drafting import Outcome
from spec_math.language import TokenizedModel
from spec_math.scheme import Emission, Tokens
from spec_math.string_level.reading import opened
from spec_math.string_level.realignment import candidate
from spec_math.string_level.rejection import emit
from spec_math.string_level.retokenised_law import RetokenisedLaw
from spec_math.token_level import one_hot


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
    drafted = candidate(target, laws.prefix, reading.text(reading.draw(coin, lookahead)), 0)
    tokens: Tokens = ()
    for token in drafted:
        emission = one_hot.emit(coin, token, laws.target(tokens))
        tokens = (*tokens, emission.token)
        if not emission.accepted or laws.ends(tokens):
            return tokens
    return (*tokens, coin.draw(laws.target(tokens)))


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
