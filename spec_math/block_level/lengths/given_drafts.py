"""The expected number of given drafts that a method accepts, exactly averaged over the method's own coins.

Each function turns drafts into numbers a_1..a_L whose mean over drafts are the chances that at least 1, 2, …, L drafted
tokens are accepted. a_i is the chance given the first i tokens of the chains; what is drafted below may change what
becomes of them, but not on average. A call yields 1 + a_1 + … + a_l tokens on average for every lookahead l ≤ L: a
shorter lookahead takes the same drafts, cut. A token that ends the text counts 0, as nothing follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import Selection, classes_of
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.scheme import Emission, Tokens
from spec_math.token_level import k_sequential, plan, recursive, without_replacement
from spec_math.token_level.excess import least
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.pools import KnotMixture, nested

Chances = list[Any]
"""The numbers a_1..a_L."""

AtNode = Callable[[Tokens, Tokens], dict[int, Any]]
"""(path, drafts after it) -> {drafted token: the chance that it is emitted}."""


def token_by_token(laws: Conditionals, chain: Tokens, lookahead: int) -> Chances:
    """Return the chances Π_{j≤i} min(1, t/d) of a chain that is verified token by token."""
    return at_nodes(laws, (chain,), lookahead, Nodes(laws).recursive)


def as_block(laws: Conditionals, chain: Tokens, lookahead: int) -> Chances:
    """Return the chances w_i = min(1, w_{i−1} t/d) of a chain that is verified as a block."""
    total = _zeros(laws, lookahead)
    for place, weight in _along(laws, chain):
        total[place] += weight
    return total


def at_nodes(laws: Conditionals, chains: Sequence[Tokens], lookahead: int, at_node: AtNode) -> Chances:
    """Return the chances of SpecTr's walk on K paths: at each node `at_node` emits one of the drafts, or none.

    The drafts of a node are the next tokens of all chains that reach it, in the order drafted. A node with one draft
    accepts it with chance min(1, t/d), as every verifier of i.i.d. drafts does.
    """
    total, one = _zeros(laws, lookahead), _one(laws)

    def follow(chain: Tokens, start: int, reached: Any) -> None:
        """Go down the one chain that is left, with chance min(1, t/d) at each node."""
        masses = laws.along(chain[:lookahead])
        for place in range(start, len(masses)):
            t, d = masses[place]
            reached = reached * (t / d if t < d else one)
            if not reached > 0 or chain[place] == laws.end:
                return
            total[place] += reached

    def walk(path: Tokens, reaching: Sequence[Tokens], reached: Any) -> None:
        if len(path) == lookahead or laws.ends(path):
            return
        if len(reaching) == 1:
            follow(reaching[0], len(path), reached)
            return
        drafts = tuple(chain[len(path)] for chain in reaching)
        for token, chance in at_node(path, drafts).items():
            longer, mass = (*path, token), reached * chance
            if mass > 0 and not laws.ends(longer):
                total[len(path)] += mass
                walk(longer, [chain for chain in reaching if chain[len(path)] == token], mass)

    walk((), chains, _one(laws))
    return total


class Nodes:
    """Verifiers of one position as they stand at the nodes of a tree; what a node and number of drafts need is kept.

    Each method is an `AtNode`. The chances of the tests are those that the program itself asks its coin for. Left out
    is a draft that all tests reject and the residual draws after all: its chance is 0 in exact arithmetic.
    """

    def __init__(self, laws: Conditionals) -> None:
        self.laws = laws
        self._gammas: dict[tuple[Tokens, int], Any] = {}
        self._plans: dict[tuple[Tokens, int], tuple[KnotMixture, Any]] = {}

    def k_sequential(self, path: Tokens, drafts: Tokens) -> dict[int, Any]:
        """K-SEQ at γ*."""
        target, draft = self.laws.target(path), self.laws.draft(path)
        known = path, len(drafts)
        if known not in self._gammas:
            self._gammas[known] = least(*self.laws.kept(_of_classes, path), len(drafts))
        gamma = self._gammas[known]
        return _in_turn([k_sequential.chance(target[token], draft[token], gamma) for token in drafts], drafts)

    def recursive(self, path: Tokens, drafts: Tokens) -> dict[int, Any]:
        """Recursive rejection, on classes of tokens of equal ratios t/d: what is left of them has equal ratios too."""
        place_of, laws = self.laws.kept(classes_of, path).place, self.laws.kept(_of_classes, path)
        places = tuple(int(place_of[token]) for token in drafts)
        return _in_turn(_asked(lambda coin: recursive.emit(coin, places, *laws)), drafts)

    def plan(self, path: Tokens, drafts: Tokens) -> dict[int, Any]:
        """The optimal plan: one of the hits of the highest pool is put forward, each with the same chance, and kept."""
        known = path, len(drafts)
        if known not in self._plans:
            order = self.laws.kept(classes_of, path).order
            self._plans[known] = plan.pooled(order, prefix_law.independent(order, len(drafts)))
        (pools, kept), place_of = self._plans[known], self.laws.kept(classes_of, path).place
        places = [int(place_of[token]) for token in drafts]
        weights, low, _ = nested(pools, max(places))
        hits = [sum(place >= start for place in places) for start in low]
        result: dict[int, Any] = {}
        for token, place in zip(drafts, places, strict=True):
            shares = (weight / n for weight, start, n in zip(weights, low, hits, strict=True) if place >= start)
            chance = kept[place] * sum(shares, weights[0] - weights[0])
            result[token] = result[token] + chance if token in result else chance
        return result


def _of_classes(laws: Conditionals, path: Tokens) -> tuple[Any, Any]:
    """Return the target and the draft of classes of tokens of equal ratios; what is never drafted is one more."""
    order = laws.kept(classes_of, path).order
    return np.append(order.target, order.target_above[-1:]), np.append(order.draft, order.draft_above[-1:])


def first_to_pass(program: Callable[[Coin], Emission], drafts: Tokens) -> dict[int, Any]:
    """Return the chance that each draft is the first to pass its test, for a program that tests them in turn."""
    return _in_turn(_asked(program), drafts)


def _in_turn(chances: Sequence[Any], drafts: Tokens) -> dict[int, Any]:
    reached, result = 1 + 0 * chances[0], dict[int, Any]()
    for token, chance in zip(drafts, chances, strict=True):
        mass = reached * chance
        result[token] = result[token] + mass if token in result else mass
        reached = reached * (1 - chance)
    return result


def root_tests(laws: Conditionals, roots: Tokens) -> list[Any]:
    """Return the chance that each first token, drawn without replacement, passes its test after those before failed."""
    return _asked(lambda coin: without_replacement.emit(coin, roots, laws.target(), laws.draft()))


def distinct_roots(laws: Conditionals, chains: Sequence[Tokens], lookahead: int, as_block: bool = False) -> Chances:
    """Return the chances of K paths whose first tokens are drawn without replacement, by recursive rejection."""
    total, reached = _zeros(laws, lookahead), _one(laws)
    for chain, chance in zip(chains, laws.kept(root_tests, tuple(chain[0] for chain in chains)), strict=True):
        for place, weight in _along(laws, chain, chance, as_block):
            total[place] += reached * weight
        reached = reached * (1 - chance)
    return total


def traversed(laws: Conditionals, chains: Sequence[Tokens], lookahead: int) -> Chances:
    """Return the chances of traversal verification on K paths whose first tokens are drawn without replacement.

    The law: the root rejects its children as recursive rejection does, a child with chance 1 − w_1, its weight w_1
    being the chance min(1, r/d) of its test; below it the chain is a block that starts with that weight.
    """
    return distinct_roots(laws, chains, lookahead, as_block=True)


def selected(laws: Conditionals, chains: Sequence[Tokens], lookahead: int, selection: Selection) -> Chances:
    """Return the chances of a selected chain verified as a block: the mean of its weights over the selection."""
    total = _zeros(laws, lookahead)
    for chain, mass in law_of(lambda coin: selection.select(coin, chains)).items():
        for place, weight in _along(laws, chain, selection=selection):
            total[place] += mass * weight
    return total


class _Refusing:
    """A coin that answers every flip with no and keeps its chance; what is drawn in the end does not matter."""

    def __init__(self) -> None:
        self.chances: list[Any] = []

    def flip(self, p: Any) -> bool:
        self.chances.append(p)
        return False

    def draw(self, masses: Any) -> int:  # noqa: ARG002
        return 0


def _asked(program: Callable[[Coin], Emission]) -> list[Any]:
    """Return the chances that a program asks for while every test refuses."""
    coin = _Refusing()
    program(coin)
    return coin.chances


def _along(
    laws: Conditionals, chain: Tokens, first: Any = None, as_block: bool = True, selection: Selection | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield (place, w_i), the chance to be kept so far: min(1, w_{i−1} t/d) as a block, else w_{i−1} min(1, t/d).

    The first token has the chance `first`, None for its own; d is the selected law's where a chain is selected.
    """
    weight = one = _one(laws)
    for place, (t, d) in enumerate(laws.along(chain)):
        if place == 0 and first is not None:
            weight = first
        elif as_block:
            weight = min(one, weight * t / (d if selection is None else selection.law(chain[:place])[chain[place]]))
        else:
            weight = weight * (t / d if t < d else one)
        if chain[place] != laws.end:
            yield place, weight


def _one(laws: Conditionals) -> Any:
    first = laws.target()[0]
    return first * 0 + 1


def _zeros(laws: Conditionals, lookahead: int) -> Chances:
    return [laws.target()[0] * 0] * lookahead
