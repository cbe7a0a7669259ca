"""Block verification: one drafted chain, verified as a whole, never shorter than token by token (Sun et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spec_math.arrays import Array, count, positive_part
from spec_math.block_level import chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, normalised
from spec_math.language.model import Model
from spec_math.scheme import Tokens


def generate(coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int) -> Tokens:
    """Draft up to `lookahead` tokens, keep the longest part that a coin accepts, and add one token.

    The law: the tokens, continued by the target, have the target's joint law; see `verify`. No token follows the end
    token. Source: Sun et al. 2024 (block verification), cited by Timor et al., section 3.3.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: [0, 1])
    >>> law(lambda coin: generate(coin, target, draft, (), 1))[0,]
    Fraction(1, 4)
    """
    return verify(coin, *chain.draw_with_rows(coin, Conditionals(target_model, draft_model, prefix), lookahead))


def verify(coin: Coin, tokens: Tokens, targets: Sequence[Any], drafts: Sequence[Any]) -> Tokens:
    """Verify a drafted chain as a block: toss one coin a position, and keep up to the LAST position that accepts.

    The law: w_0 = 1, w_i = min(1, w_{i−1} t(x_i)/d(x_i)); position i < L accepts with chance ρ_i/(ρ_i + 1 − w_i), where
    ρ_i = Σ_x (w_i t(x | x_1..i) − d(x | x_1..i))+, and position L with chance w_L. After the last accepted position i a
    token is drawn from (w_i t − d)+ / ρ_i, or from t where i = L. P(at least i accepted | x_1..i) = w_i.

    Laws: targets [L+1, V] and drafts [L, V], row i given the first i tokens; targets may lack its last row where
    nothing follows the chain. All L coins are tossed, in order.

    Raises:
        ValueError: the numbers of rows do not fit the tokens; a token that its draft law cannot draw.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (1,), [["1/4", "3/4"]], [[0, 1]]))
    {(1,): Fraction(3, 4), (0,): Fraction(1, 4)}
    """
    t, d = chain.checked_rows(tokens, targets, drafts)
    weights, left = weighed(tokens, t, d)
    accepted = last_kept(coin, chances(weights, left))
    if accepted == len(tokens):
        return tuple(tokens) if len(t) == len(tokens) else (*tokens, coin.draw(t[-1]))
    # Where nothing is left, w t ≤ d holds everywhere and hence w = 1 and t = d: a later coin accepts, up to rounding.
    return (*tokens[:accepted], coin.draw(normalised(left[accepted], t[accepted])))


def weighed(tokens: Tokens, targets: Sequence[Array], drafts: Sequence[Array]) -> tuple[list[Any], list[Array]]:
    """Return the weights w_0..w_L of a drafted chain and what is left of each target law, (w_i t − d)+ for i < L.

    Laws: targets and drafts [L, V], checked; weights are probabilities.
    """
    one = targets[0].sum() * 0 + 1
    weights, left = [one], [positive_part(targets[0] - drafts[0])]
    for place, token in enumerate(tokens):
        weights.append(capped_ratio(weights[place] * targets[place][token], drafts[place][token]))
        if place + 1 < len(tokens):
            left.append(positive_part(weights[place + 1] * targets[place + 1] - drafts[place + 1]))
    return weights, left


def chances(weights: Sequence[Any], left: Sequence[Array]) -> Iterator[Any]:
    """Yield the chance that each position 1..L accepts, by what `weighed` returns: ρ/(ρ + 1 − w), and w at the last.

    At 0/0 a later coin accepts whatever this one says, so that it may as well accept.

    >>> from spec_math.arrays import exact
    >>> [str(chance) for chance in chances([1, exact("1/2"), exact("1/4")], [None, exact(["1/6", "1/3"])])]
    ['1/2', '1/4']
    """
    for weight, rest in zip(weights[1:-1], left[1:], strict=True):
        mass = rest.sum()
        decided = mass + (1 - weight)
        yield mass / decided if decided > 0 else weight
    yield weights[-1]


def last_kept(coin: Coin, chances: Iterable[Any]) -> int:
    """Toss a coin for each position 1..L, in order, and return the LAST position that accepts, or 0.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: last_kept(coin, [0.5, 0.5, 0.5]), [0.1, 0.2, 0.9])
    2
    """
    return max((place for place, chance in enumerate(chances, 1) if coin.flip(chance)), default=0)


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int) -> Any:
    """Return the expected number of tokens per target call, 1 + Σ_s M(s), by walking prefixes.

    The law: M(s) = E_{x ~ d}[w_i; x_1..i = s] = min(d(s), M(s_<i) t(s_i | s_<i)), with M = 1 at the empty text: the
    probability that s is drafted and kept, the largest that any verifier of one chain reaches, all s at once. The sum
    runs over the texts of 1 to `lookahead` tokens that do not end with the end token (one that does adds a draft, and
    loses the token that would follow it). V^lookahead terms at most. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/3", "2/3"], lambda prefix: ["2/3", "1/3"], (), 2)
    Fraction(20, 9)
    """
    laws = Conditionals(target_model, draft_model, prefix)
    one = laws.target().sum() * 0 + 1
    return one + chain.accepted_below(laws, count(lookahead, "lookahead"), (), (one, one))
