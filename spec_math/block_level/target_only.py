"""Target-only verification: a tree chosen without randomness, walked by one coin a node that reads the target alone.

Source: Medusa, Cai et al. 2024; EAGLE-2, Li et al. 2024; the coin of SGLang's kernel of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import array_namespace
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.likeliest_tree import Choose
from spec_math.block_level.tree import Node
from spec_math.chance import Coin
from spec_math.distribution import normalised
from spec_math.language.model import Model
from spec_math.scheme import Tokens


def generate(coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], choose: Choose) -> Tokens:
    """Let the drafter choose a tree, walk down it with one coin a node, and add one token where the walk leaves it.

    The law: the tokens, continued by the target, have the target's joint law, whatever tree is chosen, as long as the
    choice does not see these coins. `choose` is a rule of `likeliest_tree`.

    Raises:
        ValueError, TypeError: siblings that carry one token; a law is not a probability distribution or the prefix is
            not valid, named by its prefix.

    >>> from spec_math.block_level.likeliest_tree import of_draft
    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/3", "2/3"])
    >>> law(lambda coin: len(generate(coin, target, draft, (), of_draft(2, 2))))
    {3: Fraction(9, 16), 2: Fraction(3, 16), 1: Fraction(1, 4)}
    """
    laws = Conditionals(target_model, draft_model, prefix)
    return verify(coin, choose(laws), laws)


def verify(coin: Coin, tree: tuple[Node, ...], laws: Conditionals) -> Tokens:
    """Walk down a tree, given the children of its root; siblings are distinct.

    The law: at a node with children x_1..x_m one coin u accepts x_i where Σ_{j<i} t(x_j) ≤ u < Σ_{j≤i} t(x_j); where
    it accepts none, a token is drawn from t without them, divided by what is left. Emitted are the accepted path and
    that token, nothing after the end token.

    Raises:
        ValueError: siblings that carry one token, or a token outside the vocabulary.

    >>> from spec_math.chance import law
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> law(lambda coin: verify(coin, (Node(0),), laws))[1,]
    Fraction(3, 4)
    """
    path: Tokens = ()
    siblings = tree
    while siblings:
        t = laws.target(path)
        tokens = _distinct(siblings, len(t), path)
        rest = array_namespace(t).asarray(t, copy=True)
        rest[list(tokens)] = t[0] * 0
        met = coin.draw([*(t[token] for token in tokens), rest.sum()])
        if met == len(tokens):
            return (*path, coin.draw(normalised(rest, t)))
        path, siblings = (*path, tokens[met]), siblings[met].children
    return path if laws.ends(path) else (*path, coin.draw(laws.target(path)))


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], choose: Choose) -> Any:
    """Return the expected number of tokens per target call, 1 + Σ_v t(path to v) over the nodes of the tree.

    A node that ends the text counts 0: it adds a draft and loses the token that would follow. The draft's law matters
    for the choice of the tree alone. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> from spec_math.block_level.likeliest_tree import of_draft
    >>> expected(lambda _: ["1/4", "3/4"], lambda _: ["1/3", "2/3"], (), of_draft(2, 2))
    Fraction(37, 16)
    """
    laws = Conditionals(target_model, draft_model, prefix)
    chances = reached(laws, choose(laws))
    return sum(chances, laws.target().sum() * 0 + 1)


def reached(laws: Conditionals, tree: tuple[Node, ...]) -> list[Any]:
    """Return a_1..a_D, the chance that at least 1, 2, … drafted tokens are accepted: Σ t(path) over each level.

    A token that ends the text counts 0, as in `given_drafts`.
    """
    zero = laws.target().sum() * 0
    chances: list[Any] = []
    level: list[tuple[Tokens, tuple[Node, ...], Any]] = [((), tree, zero + 1)]
    while any(children for _, children, _ in level):
        below: list[tuple[Tokens, tuple[Node, ...], Any]] = []
        for path, children, mass in level:
            if not children:
                continue
            t = laws.target(path)
            for token, child in zip(_distinct(children, len(t), path), children, strict=True):
                if not laws.ends((token,)):
                    below.append(((*path, token), child.children, mass * t[token]))
        chances.append(sum((mass for _, _, mass in below), zero))
        level = below
    return chances


def _distinct(siblings: tuple[Node, ...], size: int, path: Tokens) -> Tokens:
    tokens = tuple(node.token for node in siblings)
    if len(set(tokens)) < len(tokens) or not all(0 <= token < size for token in tokens):
        raise ValueError(
            f"the drafts after the path {path} must be distinct indices in 0..{size - 1}; got {tokens}: one coin meets "
            "each token of the target once"
        )
    return tokens
