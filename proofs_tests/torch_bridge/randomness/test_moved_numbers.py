"""Random numbers and tokens that are moved between tensors, types and buffers: their law is kept, or it is refused.

Before, a uniform that was written into a buffer of another floating type became an ordinary NaN, which is below
nothing; `alpha=2`, `rounding_mode` and `out=` were passed over; the bits of a token could be read as another type.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from spec_math.audit import ExploreError

torch: Any = pytest.importorskip("torch")

from torch_bridge.randomness.source import explore  # noqa: E402
from torch_bridge.randomness.tags import Tags  # noqa: E402
from torch_bridge.randomness.tokens import Later  # noqa: E402

DOUBLE, SINGLE = torch.float64, torch.float32
QUARTER = {True: Fraction(1, 4), False: Fraction(3, 4)}


def uniform(dtype: Any = DOUBLE, size: int = 1) -> Any:
    return torch.rand(size, dtype=dtype)


def token() -> Any:
    return torch.multinomial(torch.tensor([0.25, 0.75], dtype=DOUBLE), 1)


def _set(dtype: Any, value: Any) -> Any:
    buffer = torch.zeros(2, dtype=dtype)
    buffer[0] = value[0]
    return buffer[0]


MOVES = {
    "where": lambda: torch.where(torch.tensor([True]), uniform(SINGLE), torch.ones(1, dtype=DOUBLE)),
    "cat": lambda: torch.cat([uniform(SINGLE), torch.ones(1, dtype=DOUBLE)])[0],
    "stack": lambda: torch.stack([torch.ones(1, dtype=DOUBLE), uniform(SINGLE)])[1],
    "copied up": lambda: torch.zeros(1, dtype=DOUBLE).copy_(uniform(SINGLE)),
    "copied down": lambda: torch.zeros(1).copy_(uniform()),
    "filled": lambda: torch.zeros(1, dtype=DOUBLE).fill_(uniform(SINGLE)[0]),
    "full_like": lambda: torch.full_like(torch.zeros(1, dtype=DOUBLE), uniform(SINGLE)[0]),
    "new_full": lambda: torch.zeros(1, dtype=DOUBLE).new_full((1,), uniform(SINGLE)[0]),
    "masked": lambda: torch.zeros(1, dtype=DOUBLE).masked_fill(torch.tensor([True]), uniform(SINGLE)[0]),
    "written up": lambda: _set(DOUBLE, uniform(SINGLE)),
    "written down": lambda: _set(SINGLE, uniform()),
    "computed in place": lambda: uniform(SINGLE).mul_(torch.ones(1, dtype=DOUBLE)),
    "by name": lambda: torch.mul(input=uniform(), other=1),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_moved_uniform_is_below_a_quarter_a_quarter_of_the_time(move: str) -> None:
    assert explore(lambda: bool(MOVES[move]() < 0.25)) == QUARTER


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, SINGLE, DOUBLE])
def test_a_moved_token_keeps_its_law(dtype: Any) -> None:
    law = {0: Fraction(1, 4), 1: Fraction(3, 4)}
    assert explore(lambda: int(_set(dtype, token()))) == law
    assert explore(lambda: int(torch.cat([torch.zeros(1, dtype=dtype), token()])[1])) == law
    assert explore(lambda: int(torch.full_like(torch.zeros(1, dtype=dtype), token()[0]))) == law
    assert explore(lambda: int(token().view(torch.int32)[0])) == law


REFUSED = {
    "with alpha": lambda: torch.sub(uniform(), 0.25, alpha=2) < 0,
    "with rounding_mode": lambda: torch.div(uniform(), 0.25, rounding_mode="floor") < 1,
    "given as out": lambda: torch.sub(uniform(), 0.5, out=torch.zeros(1, dtype=DOUBLE)) < 0,
    "lt of a random number into": lambda: torch.lt(uniform(), 0.25, out=torch.zeros(1, dtype=torch.bool)),
    "writes an answer over": lambda: uniform().lt_(0.25) > 0.5,
    "index_put_ of a random number that adds": lambda: (
        torch.ones(1, dtype=DOUBLE).index_put_((torch.tensor([0]),), uniform(), accumulate=True) < 1.25
    ),
    "scatter_ of a random number that adds": lambda: (
        torch.ones(1, dtype=DOUBLE).scatter_(0, torch.tensor([0]), uniform(), reduce="add") < 1.25
    ),
    "view of a random number in another type": lambda: uniform().view(torch.int64) > 0,
    "this tensor is torch.int64": lambda: torch.zeros(1, dtype=torch.int64).copy_(uniform()) > 0,
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_would_lose_a_uniform_is_refused(said: str) -> None:
    with pytest.raises(ExploreError, match=said):
        explore(lambda: bool(REFUSED[said]()))


def test_a_buffer_that_is_written_over_is_not_read() -> None:
    def scratch() -> bool:
        held = uniform(size=3)
        torch.softmax(torch.zeros(3, dtype=DOUBLE), dim=-1, out=held)
        return bool(torch.rand(()) < held[0])

    assert explore(scratch) == pytest.approx({True: 1 / 3, False: 2 / 3}, abs=1e-15)


def test_memory_that_nothing_was_written_to_holds_no_random_numbers() -> None:
    tags, later = Tags(), Later()
    tagged = tags.put(torch.zeros(1, dtype=DOUBLE), explored_uniform())
    assert tags.any_in(tagged.clone())
    assert not tags.any_in(tags.forgotten(tagged.clone()))
    tokens = later.put([lambda: 3], torch.int64)
    assert later.forgotten(tokens.clone()).tolist() == [0]
    assert later.looked_at(tokens).tolist() == [3]


def explored_uniform() -> list[Any]:
    kept: list[Any] = []

    def keep() -> int:
        kept.append(torch.rand(1).item())
        return 0

    explore(keep)
    return kept[:1]
