"""Transport problems for the proofs: a target with a law of drafts of every kind; and the brute force over subsets."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

from proofs_tests.strategies import laws, pairs
from spec_math.arrays import Array, proportional_to
from spec_math.chance import Coin
from spec_math.scheme import Scheme
from spec_math.token_level import draft_law, greedy, hub, transport, without_replacement

KINDS = ("i.i.d.", "two drafters", "without replacement", "greedy", "SpecHub", "tuples", "sets")


@st.composite
def problems(draw: st.DrawFn, kind: str, largest: int = 5, most: int = 3) -> tuple[Array, dict[Any, Fraction]]:
    """A target on at most `largest` tokens, and the law of at most `most` drafts of the named kind."""
    # The cost is V^k: five tokens with two drafts, fewer with three.
    k = draw(st.integers(1, most))
    target, draft = draw(pairs(largest if k < 3 else min(largest, 4)))
    size = len(target)
    if kind == "i.i.d.":
        return target, draft_law.iid(draft, k)
    if kind == "two drafters":
        return target, draft_law.independent([draft, draw(laws(size)), *[draft] * (k - 1)])
    if kind == "without replacement":
        return target, draft_law.drawn(without_replacement.draw, draft, k)
    if kind == "greedy":
        return target, draft_law.drawn(greedy.draw, draft, k)
    if kind == "SpecHub":
        return target, draft_law.drawn(hub.draw, draft, 2)
    drafts = st.lists(st.integers(0, size - 1), max_size=3).map(tuple if kind == "tuples" else frozenset)
    keys = draw(st.lists(drafts, min_size=1, max_size=6, unique=True))
    return target, dict(zip(keys, proportional_to([draw(st.integers(1, 9)) for _ in keys]).tolist(), strict=True))


def values_of_cuts(target: Array, law: Mapping[Any, Fraction]) -> dict[frozenset[int], Fraction]:
    """Say, for every subset H of the tokens, what it leaves: 1 − P(S ⊆ H) + t(H)."""
    result: dict[frozenset[int], Fraction] = {}
    for chosen in product((False, True), repeat=len(target)):
        inside = sum((mass for tokens, mass in law.items() if all(chosen[y] for y in tokens)), Fraction(0))
        kept = sum((mass for mass, member in zip(target, chosen, strict=True) if member), Fraction(0))
        result[frozenset(y for y, member in enumerate(chosen) if member)] = 1 - inside + kept
    return result


def scheme_of(law: Mapping[Any, Fraction], verify: Any) -> Scheme:
    """Make a scheme that drafts by a given law and verifies by a given program, so that check_lossless can judge it."""
    listed = list(law)

    def draw(coin: Coin, draft: Array, k: int) -> tuple[int, ...]:  # noqa: ARG001
        return tuple(listed[coin.draw(list(law.values()))])

    def best(target: Any, draft: Any, k: int) -> Any:  # noqa: ARG001
        return transport.acceptance_of(target, law)

    return Scheme("verifier_from_coupling", draw, verify, best, best)
