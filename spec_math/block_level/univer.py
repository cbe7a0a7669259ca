"""UniVer on a tree: the draft's favourites and one drawn token at every node, judged from the leaves upwards.

Source: Weng, Hu and Yairi 2026, "UniVer" (arXiv 2605.04543), as a public kernel of a serving engine has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spec_math.arrays import Array, as_laws, positive_part
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import in_numpy
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.distribution import capped_ratio, normalised
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level import greedy
from spec_math.token_level.without_replacement import without

Order = Callable[[Conditionals, Sequence[Tokens], Sequence[Any], Sequence[int]], Sequence[int]]
"""(laws, the paths to the children, their shares, how many drafts follow each) -> the children's places, first tried
first. It may look at laws, never at the drafts behind a child."""


def as_drafted(laws: Conditionals, paths: Sequence[Tokens], *_: Any) -> Sequence[int]:  # noqa: ARG001
    """Return the children's places as they are: favourites first, the drawn one last."""
    return range(len(paths))


def generate(
    coin: Coin,
    target_model: Model,
    draft_model: Model,
    prefix: Sequence[int],
    widths: Sequence[int],
    order: Order = as_drafted,
) -> Tokens:
    """Draft a tree of greedy drafts, and emit the path of the first node that is accepted with one token more.

    The law: the tokens, continued by the target, have the target's joint law. Below a node of level i stand the
    widths[i] − 1 tokens that the draft likes best, and one drawn from the rest of its law (`token_level.greedy.draw`);
    none below the end token. Widths (1, 1, …) are block verification. `order` says which child is tried first.

    Raises:
        ValueError, TypeError: widths does not hold positive integers; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "1/2", "1/4"]), (lambda prefix: ["1/2", "1/2", 0])
    >>> law(lambda coin: len(generate(coin, target, draft, (), (2,)))) == {2: 3 / 4, 1: 1 / 4}
    True
    """
    laws = Conditionals(target_model, draft_model, prefix)
    return verify(coin, grow(coin, laws, checked_widths(widths), greedy.draw), laws, order)


def verify(coin: Coin, tree: tuple[Node, ...], laws: Conditionals, order: Order = as_drafted) -> Tokens:
    """Judge a tree of greedy drafts, given the children of its root, the drawn one last among its siblings.

    A node that is tried carries the chance w that its path is kept or goes on, 1 at the root; `shares` says how it
    falls to its children and to itself. Children are tried in `order`, each with its share of what those before left;
    then the node itself, which emits a token of (w t − d')+ that is no favourite. A leaf is accepted with chance w.

    >>> from spec_math.chance import law
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> law(lambda coin: verify(coin, (Node(0),), laws))[1,]
    Fraction(1, 2)
    """
    return _tried(coin, laws, (), Node(-1, tree), (in_numpy(laws.target()).sum() * 0 + 1, order))


def _tried(coin: Coin, laws: Conditionals, path: Tokens, node: Node, given: tuple[Any, Order]) -> Tokens:
    """Try the tree below a node of a given weight: return what is emitted, nothing where all of it is rejected."""
    children, (weight, order) = node.children, given
    if laws.ends(path):
        return path if coin.flip(weight) else ()
    t = in_numpy(laws.target(path))
    if not children:
        return (*path, coin.draw(t)) if not path or coin.flip(weight) else ()
    tokens = tuple(child.token for child in children)
    drawn = in_numpy(laws.draft(path))
    parts = shares(tokens, t, drawn, weight)
    before = weight - weight
    for place in order(laws, _longer(path, tokens), parts, [len(child.children) for child in children]):
        child = children[place]
        block = _tried(coin, laws, (*path, child.token), child, (_of_the_rest(parts[place], before), order))
        if block:
            return block
        before = before + parts[place]
    over = _beyond(tokens, t, drawn, weight)
    nothing = _given_up(tokens, t, drawn, weight, parts[-1])
    # The root, of weight 1, takes whatever comes to it, and no coin is tossed.
    if not path or coin.flip(1 - _of_the_rest(nothing, before)):
        over[list(tokens[:-1])] = over[0] * 0
        return (*path, coin.draw(normalised(over, t)))
    return ()


def shares(tokens: Tokens, target: Any, draft: Any, weight: Any) -> list[Any]:
    """Return the chance that each drafted child, in their order, is kept or goes on: of a node's weight w, laws [V].

    The law: with d' the draft without its favourites, all tokens but the last, and Z = Σ (w t − d')+ + 1 − w, the drawn
    token u has a = min(1, w t(u)/d'(u)), a favourite x has w t(x) (1 − a)/Z. Over the draw of u these are
    min(d', w t) and w t(x). What remains is the node's own, and with (1 − a)(1 − w)/Z nothing is accepted.

    Raises:
        ValueError, TypeError: a law is not a probability distribution.
    """
    t, d = as_laws(target, draft)
    *top, u = tokens
    accepted = capped_ratio(weight * t[u], without(d, top)[u])
    over = _beyond(tokens, t, d, weight)
    left = over.sum() + 1 - weight
    return [*(_part(over[x] * (1 - accepted), left) for x in top), accepted]


def expected(
    target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int], order: Order = as_drafted
) -> Any:
    """Return the expected number of tokens per target call by walking the drafts, coins averaged out, for toy models.

    The law: F(v, w) = Σ_u d'(u) Σ_j (p_j + (1 − Σ_{i<j} p_i) F(v x_j, p_j / (1 − Σ_{i<j} p_i))) over the drawn token u
    and the children x_j, in `order`, with their shares p_j; the length is 1 + F(root, 1). An end token counts nothing.
    Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), (2, 2))
    Fraction(3, 1)
    """
    laws, levels = Conditionals(target_model, draft_model, prefix), checked_widths(widths)

    def below(path: Tokens, weight: Any) -> Any:
        total = weight - weight
        if len(path) == len(levels) or laws.ends(path):
            return total
        t, d = in_numpy(laws.target(path)), in_numpy(laws.draft(path))
        for tokens, mass in law_of(lambda coin: greedy.draw(coin, d, levels[len(path)])).items():
            before, parts, paths = weight - weight, shares(tokens, t, d, weight), _longer(path, tokens)
            for place in order(laws, paths, parts, [_drafted_below(laws, longer, levels) for longer in paths]):
                longer, share = paths[place], parts[place]
                counted = share if not laws.ends(longer) else share - share
                total = total + mass * (counted + (1 - before) * below(longer, _of_the_rest(share, before)))
                before = before + share
        return total

    one = in_numpy(laws.target()).sum() * 0 + 1
    return one + below((), one)


def _longer(path: Tokens, tokens: Tokens) -> list[Tokens]:
    return [(*path, token) for token in tokens]


def _drafted_below(laws: Conditionals, path: Tokens, widths: tuple[int, ...]) -> int:
    """Return how many drafts follow a node."""
    if len(path) == len(widths) or laws.ends(path):
        return 0
    return min(widths[len(path)], int((in_numpy(laws.draft(path)) > 0).sum()))


def _beyond(tokens: Tokens, target: Array, draft: Array, weight: Any) -> Array:
    """Return (w t − d')+ [V], d' the draft without all of these tokens but the last."""
    return positive_part(weight * target - without(draft, tokens[:-1]))


def _given_up(tokens: Tokens, target: Array, draft: Array, weight: Any, accepted: Any) -> Any:
    """Return (1 − a)(1 − w)/Z, the chance that nothing is accepted."""
    return _part((1 - accepted) * (1 - weight), _beyond(tokens, target, draft, weight).sum() + 1 - weight)


def _of_the_rest(share: Any, before: Any) -> Any:
    """Return share / (1 − before), at most 1; 0 where nothing is left, as nothing is tried there."""
    return capped_ratio(share, 1 - before) if before < 1 else share - share


def _part(top: Any, bottom: Any) -> Any:
    """Return top / bottom, 0 where both are 0: the weight is 1 and the drawn token is always accepted."""
    return top / bottom if bottom > 0 else top - top
