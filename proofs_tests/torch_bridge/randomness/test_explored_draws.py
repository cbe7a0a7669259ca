"""Draws in torch by any function, with noise of any kind: each has its law, or says how near it is."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from proofs_tests.torch_bridge.randomness.explored_laws import LAW, law_of, torch
from spec_math.audit import ExploreError
from spec_math.pathwise.races import joint
from torch_bridge.randomness.source import explore as explored


def test_several_tokens_are_drawn_with_and_without_replacement(p: Any) -> None:
    without = explored(lambda: tuple(torch.multinomial(p, 2).tolist()))
    assert without == {
        (x, y): pytest.approx(LAW[x] * LAW[y] / (1 - LAW[x]), abs=2.0**-53)  # one rounding of an exact mass
        for x in range(3)
        for y in range(3)
        if x != y
    }
    with_it = explored(lambda: tuple(torch.multinomial(p, 2, replacement=True).tolist()))
    assert with_it == {(x, y): LAW[x] * LAW[y] for x in range(3) for y in range(3)}


def by_search(p: Any) -> int:
    return int(torch.searchsorted(p.cumsum(-1), torch.rand(1), right=True))


def by_bucket(p: Any) -> int:
    return int(torch.bucketize(torch.rand(()), p.cumsum(-1)))


def by_topk(p: Any) -> int:
    return torch.topk(p / torch.empty_like(p).exponential_(), 1).indices.item()


def by_max(p: Any) -> int:
    return (p / torch.empty_like(p).exponential_()).max(dim=-1).indices.item()


def by_eighths(p: Any) -> int:
    return int((torch.randint(8, (1,)) >= 8 * p.cumsum(-1)).sum())


def by_flips(_: Any) -> int:
    first, second = torch.bernoulli(torch.tensor([0.125, 3 / 7], dtype=torch.float64)).tolist()
    return 0 if first else 1 if second else 2


def by_flips_in_place(p: Any) -> int:
    return 0 if torch.empty(1).bernoulli_(float(p[0])).item() else 1 + int(torch.empty(1).bernoulli_(4 / 7).item())


@pytest.mark.parametrize("draw", [by_search, by_bucket, by_topk, by_max, by_eighths, by_flips, by_flips_in_place])
def test_draws_by_other_functions_have_the_law(draw: Any, p: Any) -> None:
    # The flips of 3/7 and 4/7 are float64, off by a relative 2^-53 each, and each mass is rounded once.
    found = explored(lambda: draw(p))
    assert all(abs(found[token] - mass) <= 2.0**-52 for token, mass in enumerate(LAW))


def test_a_permutation_is_drawn_card_by_card() -> None:
    found = explored(lambda: tuple(torch.randperm(3).tolist()))
    assert found == dict.fromkeys(permutations(range(3)), Fraction(1, 6))


def test_the_first_of_two_ranks_is_drawn_and_then_the_second_among_those_left(p: Any) -> None:
    """Gumbel-top-k is sampling without replacement."""
    wanted = {(x, y): LAW[x] * LAW[y] / (1 - LAW[x]) for x in range(3) for y in range(3) if x != y}
    for rank in (
        lambda noise: noise.topk(2).indices,
        lambda noise: noise.sort(descending=True).indices[:2],
        lambda noise: noise.argsort(descending=True)[:2],
    ):
        found = explored(lambda rank=rank: tuple(rank(p / torch.empty_like(p).exponential_()).tolist()))
        assert found.keys() == wanted.keys()
        assert all(abs(found[pair] - mass) <= 2.0**-53 for pair, mass in wanted.items())


def test_one_noise_row_serves_three_positions() -> None:
    """As a batch does that draws a correction at every position from one row of noise and keeps one of them."""
    rows = [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]

    def corrections() -> tuple[int, ...]:
        noise = torch.empty(2).exponential_()
        return tuple((torch.tensor(rows) / noise).argmax(dim=-1).tolist())

    laws = [[Fraction(mass) for mass in row] for row in rows]
    wanted = {cell: joint(laws, cell) for cell in product(range(2), repeat=3)}
    assert explored(corrections) == {cell: float(mass) for cell, mass in wanted.items() if mass}
    for place, row in enumerate(rows):
        assert explored(lambda place=place: corrections()[place]) == law_of(row)


def test_hard_gumbel_softmax_is_a_draw() -> None:
    logits = torch.tensor([0.0, 0.0, -torch.inf, 0.0])
    found = explored(lambda: int(torch.nn.functional.gumbel_softmax(logits, tau=0.5, hard=True).argmax()))
    assert found == {0: 1 / 3, 1: 1 / 3, 3: 1 / 3}


@pytest.mark.parametrize("guard", ["shift", "clamp", "none"])
def test_small_numbers_that_keep_a_logarithm_finite_are_told(guard: str, p: Any) -> None:
    small = 2.0**-30

    def noise(x: Any) -> Any:
        if guard == "none":
            return -(-x.log()).log()
        if guard == "clamp":
            return -(-x.clamp(min=small).log()).clamp_min(small).log()
        return -((-(x + small).log()) + small).log()

    found = explored(lambda: (p.log() + noise(torch.rand_like(p))).argmax().item())
    plain = explored(lambda: (p.log() - torch.empty_like(p).exponential_().log()).argmax().item())
    assert found == plain
    # Two guards for each of three numbers, none of them off by more than itself.
    assert found.ignored == (0 if guard == "none" else 6 * small)


def test_a_guarded_law_is_as_near_as_it_says() -> None:
    """P(E_0 + g < E_1·…) for the coarse guard 1/10,000, integrated: e^-g/2 and 1 − e^-g/2."""
    guard = 1e-4

    def race() -> int:
        noise = torch.empty(2, dtype=torch.float64).exponential_()
        noise = torch.stack([noise[0] + guard, noise[1]])
        return noise.argmin().item()

    found = explored(race)
    assert 0 < abs(found[0] - math.exp(-guard) / 2) <= found.ignored == guard


def test_a_number_raced_with_and_without_a_guard_is_refused() -> None:
    def both() -> tuple[int, int]:
        noise = torch.empty(2).exponential_()
        return noise.argmin().item(), (noise + 1e-6).argmin().item()

    with pytest.raises(ExploreError, match="both with and without a small number"):
        explored(both)
