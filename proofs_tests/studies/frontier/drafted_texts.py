"""How often a text is drafted by each kind of drafts, by enumeration, and the bound that follows: an oracle."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from proofs_tests.studies.frontier.toy_models import TABLES
from spec_math.block_level import tree
from spec_math.block_level.methods import BRANCHING, DISTINCT, FAVOURED, SEQUENCES, STEMS, Drafts
from spec_math.chance import law
from spec_math.studies.frontier import further
from spec_math.studies.lengths import ceilings
from spec_math.token_level import greedy, without_replacement


def drafted(kind: Drafts, k: int, size: int) -> dict[tuple[int, ...], Fraction]:
    """P(a text is drafted), by enumeration of the drafts' own program; of beams what is raced at least."""
    laws = further.GatheredLaws(*TABLES, ())
    stem = next((stem for stem, known in STEMS.items() if known is kind), 0)
    found: dict[tuple[int, ...], Fraction] = {}
    siblings = {BRANCHING: without_replacement.draw, FAVOURED: greedy.draw}
    trees = law(lambda coin: tree.grow(coin, laws, (2,) * size, siblings[kind])) if kind in siblings else {}
    held = [(inner_and_leaves(nodes), chance) for nodes, chance in trees.items()]
    for text in (text for n in range(1, size + 1) for text in product(range(3), repeat=n)):
        own = [TABLES[1](text[:place])[token] for place, token in enumerate(text)]
        mass = prod(own, start=Fraction(1))
        if kind is DISTINCT:
            roots = law(lambda coin: text[0] in without_replacement.draw(coin, TABLES[1](()), k))  # noqa: B023
            found[text] = roots.get(True, Fraction(0)) * prod(own[1:], start=Fraction(1))
        elif kind in siblings:
            found[text] = sum((chance for texts, chance in held if text in texts), Fraction(0))
        elif kind is SEQUENCES:
            found[text] = Fraction(float(ceilings.raced(laws, text, (k,))[0][-1]))
        elif stem:
            above = prod(own[:stem], start=Fraction(1))
            found[text] = mass if len(text) <= stem else above * (1 - (1 - mass / above) ** k)
        else:
            found[text] = 1 - (1 - mass) ** k
    return found


def inner_and_leaves(nodes: tuple[tree.Node, ...], path: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    return {found for n in nodes for own in [(*path, n.token)] for found in {own} | inner_and_leaves(n.children, own)}


def level_bound(kind: Drafts, k: int, size: int) -> Fraction:
    """1 + Σ U(s), U the least of P(s is drafted) and t(s | v) U(v): another way than the mean over texts."""
    most: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for text, chance in drafted(kind, k, size).items():
        most[text] = min(chance, most[text[:-1]] * TABLES[0](text[:-1])[text[-1]])
    return sum(most.values(), Fraction(0))
