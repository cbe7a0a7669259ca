"""One seed of torch's used for two draws: noise that torch makes alike is one, and other reuse is refused.

Before, an exponential and a uniform of one seed were one number, draws with replacement by two laws one token, and
numbers that torch draws along memory were named by their place in a transposed tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spec_math.audit import ExploreError

torch: Any = pytest.importorskip("torch")

from torch_bridge.randomness.source import explore  # noqa: E402

Draw = Callable[[], Any]
D = torch.float64


def twice(first: Draw, second: Draw, seed: int = 7) -> tuple[Any, Any]:
    torch.manual_seed(seed)
    one = first()
    torch.manual_seed(seed)
    return one, second()


def early(*size: int, dtype: Any = D) -> bool:
    return bool(torch.empty(*(size or (1,)), dtype=dtype).exponential_().reshape(-1)[0] < 0.5)


def with_replacement(*weights: float) -> int:
    return int(torch.multinomial(torch.tensor(weights, dtype=D), 2, replacement=True)[0])


def race() -> int:
    return int((torch.tensor([1.0, 3.0]) / torch.empty(2).exponential_()).argmax())


def second_of(table: Any) -> bool:
    return bool(table.uniform_()[0, 1] < 0.5)


REFUSED: dict[str, tuple[Draw, Draw]] = {
    "exponential_ and rand": (early, lambda: bool(torch.rand(1, dtype=D) < 0.5)),
    "multinomial and rand": (race, lambda: bool(torch.rand(1) < 0.5)),
    "gumbel_softmax and rand": (
        lambda: int(torch.nn.functional.gumbel_softmax(torch.zeros(2), hard=True).argmax()),
        lambda: bool(torch.rand(2)[0] < 0.5),
    ),
    "with replacement by two laws": (lambda: with_replacement(1, 3), lambda: with_replacement(3, 1)),
    "bernoulli of a number and of a tensor": (
        lambda: int(torch.empty(1).bernoulli_(0.25)),
        lambda: int(torch.bernoulli(torch.tensor([0.25]))),
    ),
    "bernoulli of two types": (
        lambda: int(torch.bernoulli(torch.tensor([0.25]))),
        lambda: int(torch.bernoulli(torch.tensor([0.25], dtype=D))),
    ),
    "a table and its transpose": (lambda: second_of(torch.empty(2, 2)), lambda: second_of(torch.empty(2, 2).t())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_two_draws_of_one_seed_share_by_their_inside_is_refused(name: str) -> None:
    first, second = REFUSED[name]
    with pytest.raises(ExploreError, match="drawn from twice"):
        explore(lambda: twice(first, second))


FOLLOWED: dict[str, tuple[Draw, Draw]] = {
    "multinomial and its race": (lambda: int(torch.multinomial(torch.tensor([1.0, 3.0]), 1)), race),
    "with replacement by one law": (lambda: with_replacement(1, 3), lambda: with_replacement(1, 3)),
    "a table and a longer one": (lambda: second_of(torch.empty(2, 2)), lambda: second_of(torch.empty(3, 2))),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_draws_of_one_seed_that_torch_makes_alike_are_one(name: str) -> None:
    first, second = FOLLOWED[name]
    found = explore(lambda: twice(first, second))
    assert isinstance(found, dict)
    assert all(a == b for a, b in found)
    for seed in range(30):
        one, other = twice(first, second, seed)
        assert one == other


def test_draws_that_are_refused_differ_on_real_seeds() -> None:
    """The control: had they been one number, as was once said, these would agree on every seed."""
    for name in ("with replacement by two laws", "bernoulli of two types", "a table and its transpose"):
        drawn = [twice(*REFUSED[name], seed=seed) for seed in range(40)]
        assert any(a != b for a, b in drawn)
