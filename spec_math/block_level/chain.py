"""Standard speculative decoding: one drafted chain, verified token by token (Timor et al. Alg. 5, SpecTr Alg. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import Array, as_law, count
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens, drafted
from spec_math.token_level import single


def generate(coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int) -> Tokens:
    """Draft up to `lookahead` tokens, keep them up to the first that is rejected, and add one token.

    The law: the tokens, continued by the target, have the target's joint law. The token added is the residual's after a
    rejection, else the target's own; none follows the end token. Source: Timor et al., Alg. 5; SpecTr, Alg. 4, whose L
    is lookahead + 1.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: [0, 1])
    >>> law(lambda coin: generate(coin, target, draft, (), 1))[0,]
    Fraction(1, 4)
    """
    return verify(coin, *draw_with_rows(coin, Conditionals(target_model, draft_model, prefix), lookahead))


def draw(coin: Coin, laws: Conditionals, lookahead: int) -> Tokens:
    """Draw `lookahead` tokens from the draft one after another, stopping after the end token.

    Raises:
        TypeError, ValueError: lookahead is not a positive integer.
    """
    return continued(coin, laws, (), count(lookahead, "lookahead"))


def continued(coin: Coin, laws: Conditionals, start: Tokens, length: int) -> Tokens:
    """Let the draft continue a path to `length` tokens, or to the end token.

    >>> from spec_math.chance import replay
    >>> laws = Conditionals(lambda prefix: ["1/2", "1/2"], lambda prefix: ["1/2", "1/2"], ())
    >>> replay(lambda coin: continued(coin, laws, (1,), 3), [0.1, 0.7])
    (1, 0, 1)
    """
    tokens = start
    while len(tokens) < length and not laws.ends(tokens):
        tokens = (*tokens, coin.draw(laws.draft(tokens)))
    return tokens


def draw_with_rows(coin: Coin, laws: Conditionals, lookahead: int) -> tuple[Tokens, list[Array], list[Array]]:
    """Draw a chain as `draw` does; return it with the rows of both laws along it, as `verify` takes them."""
    return with_rows(draw(coin, laws, lookahead), laws)


def with_rows(tokens: Tokens, laws: Conditionals) -> tuple[Tokens, list[Array], list[Array]]:
    """Return a drafted chain with the target's rows along it and the draft's."""
    targets = [laws.target(tokens[:place]) for place in range(len(tokens) + (not laws.ends(tokens)))]
    return tokens, targets, [laws.draft(tokens[:place]) for place in range(len(tokens))]


def verify(coin: Coin, tokens: Tokens, targets: Sequence[Array], drafts: Sequence[Array]) -> Tokens:
    """Verify a drafted chain: accept x_i with chance min(1, t_i(x_i)/d_i(x_i)) up to the first rejection.

    Laws: targets [L+1, V] and drafts [L, V], row i given the first i tokens; targets may lack its last row where
    nothing follows the chain. Returns the accepted tokens and one more: from the residual of the rejected position, or
    from the target's last row. Source: Timor et al., Alg. 5, lines 7-13.

    Raises:
        ValueError: the numbers of rows do not fit the tokens; a token that its draft law cannot draw.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (1,), [["1/4", "3/4"]], [[0, 1]]))
    {(1,): Fraction(3, 4), (0,): Fraction(1, 4)}
    """
    check_rows(tokens, targets, drafts)
    for place, token in enumerate(tokens):
        emission = single.emit(coin, token, targets[place], drafts[place])
        if not emission.accepted:
            return (*tokens[:place], emission.token)
    return tuple(tokens) if len(targets) == len(tokens) else (*tokens, coin.draw(targets[-1]))


def check_rows(tokens: Tokens, targets: Sequence[Any], drafts: Sequence[Any]) -> None:
    """Check that L drafted tokens come with L draft laws and L + 1 target laws (L where nothing follows them).

    Raises:
        ValueError: they do not, or a token has no mass in its draft law.

    Laws: targets [L, V] or [L+1, V], drafts [L, V].
    """
    size = len(tokens)
    if size == 0 or len(drafts) != size or len(targets) not in (size, size + 1):
        raise ValueError(
            f"{size} drafted token(s) need {size} rows of the draft and {size + 1} of the target ({size} if the chain "
            f"ends the text); got {len(drafts)} and {len(targets)}"
        )
    for token, draft in zip(tokens, drafts, strict=True):
        drafted(token, draft)


def checked_rows(tokens: Tokens, targets: Sequence[Any], drafts: Sequence[Any]) -> tuple[list[Array], list[Array]]:
    """Return the rows of a drafted chain as laws, once `check_rows` has passed them.

    Laws: targets [L, V] or [L+1, V], drafts [L, V].

    Raises:
        ValueError, TypeError: as `check_rows`; a row is not a probability distribution.
    """
    t, d = [as_law(row, "target") for row in targets], [as_law(row, "draft") for row in drafts]
    check_rows(tokens, t, d)
    return t, d


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int) -> Any:
    """Return the expected number of tokens per target call, 1 + Σ_s Π_i min(t, d)(s_i | s_<i), by walking prefixes.

    The sum runs over the texts s of 1 to `lookahead` tokens that do not end with the end token: one that does adds a
    draft but loses the token that would follow it. V^lookahead terms at most. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/3", "2/3"], lambda prefix: ["2/3", "1/3"], (), 2)
    Fraction(19, 9)
    """
    laws = Conditionals(target_model, draft_model, prefix)
    one = laws.target().sum() * 0 + 1
    return one + accepted_below(laws, count(lookahead, "lookahead"), (), (one, one), as_block=False)


def accepted_below(
    laws: Conditionals, lookahead: int, path: Tokens, masses: tuple[Any, Any], as_block: bool = True
) -> Any:
    """Return Σ M(s) over the texts s of up to `lookahead` tokens that begin with a path and do not end the text.

    The law: as a block M(s) = min(P(s is drafted), M(s_<i) t), else M(s_<i) min(t, d). Masses:
    both for the path, numbers that go with laws [V].
    """
    drafted, kept = masses
    total = kept * 0
    for token, (t, d) in enumerate(zip(laws.target(path), laws.draft(path), strict=True)):
        reach, wanted = drafted * d, kept * t
        mass = wanted if wanted < reach else reach
        if mass == 0 or token == laws.end:
            continue
        total = total + mass
        if len(path) + 1 < lookahead:
            below = reach if as_block else mass, mass
            total = total + accepted_below(laws, lookahead, (*path, token), below, as_block)
    return total
