"""The expected number of given drafts with distinct first tokens that are accepted, averaged over the verifier's coins.

Each function turns drafts into numbers a_1..a_L whose mean over drafts are the chances that at least 1, 2, …, L drafted
tokens are accepted. a_i is the chance given the first i tokens of the chains; what is drafted below may change what
becomes of them, but not on average. A call yields 1 + a_1 + … + a_l tokens on average for every lookahead l ≤ L: a
shorter lookahead takes the same drafts, cut. A token that ends the text counts 0, as nothing follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.scheme import Emission, Tokens
from spec_math.token_level import without_replacement

Chances = list[Any]
"""The numbers a_1..a_L."""


def first_to_pass(program: Callable[[Coin], Emission], drafts: Tokens) -> dict[int, Any]:
    """Return the chance that each draft is the first to pass its test, for a program that tests them in turn."""
    chances, result = _asked(program), dict[int, Any]()
    reached = 1 + 0 * chances[0]
    for token, chance in zip(drafts, chances, strict=True):
        mass = reached * chance
        result[token] = result[token] + mass if token in result else mass
        reached = reached * (1 - chance)
    return result


def root_tests(laws: Conditionals, roots: Tokens) -> list[Any]:
    """Return the chance that each first token, drawn without replacement, passes its test after those before failed."""
    return _asked(lambda coin: without_replacement.emit(coin, roots, laws.target(), laws.draft()))


def distinct_roots(laws: Conditionals, chains: Sequence[Tokens], lookahead: int, as_block: bool = False) -> Chances:
    """Return the chances of K paths whose first tokens are drawn without replacement, by recursive rejection.

    As blocks these are the numbers of traversal: the root rejects its children as recursive rejection does, a child
    with the chance 1 − w_1, w_1 = min(1, r/d) of its test; below it the chain is a block that starts with that weight.
    """
    total, reached = [laws.target()[0] * 0] * lookahead, _one(laws)
    for chain, chance in zip(chains, laws.kept(root_tests, tuple(chain[0] for chain in chains)), strict=True):
        for place, weight in _along(laws, chain, chance, as_block):
            total[place] += reached * weight
        reached = reached * (1 - chance)
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


def _along(laws: Conditionals, chain: Tokens, first: Any, as_block: bool) -> Iterator[tuple[int, Any]]:
    """Yield (place, w_i), the chance to be kept so far: min(1, w_{i−1} t/d) as a block, else w_{i−1} min(1, t/d).

    The first token has the chance `first`.
    """
    weight, one = first, _one(laws)
    for place, (t, d) in enumerate(laws.along(chain)):
        if place:
            weight = min(one, weight * t / d) if as_block else weight * (t / d if t < d else one)
        if chain[place] != laws.end:
            yield place, weight


def _one(laws: Conditionals) -> Any:
    return laws.target()[0] * 0 + 1
