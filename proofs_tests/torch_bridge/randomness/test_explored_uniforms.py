"""Uniform numbers of torch in each type: the values that they take, how often, and what code rounds them to."""

from __future__ import annotations

import pytest

from proofs_tests.torch_bridge.every_uniform import every_uniform
from proofs_tests.torch_bridge.randomness.explored_laws import torch
from spec_math.audit import OWN_GRID
from torch_bridge.randomness.draws import BITS, uniform_value
from torch_bridge.randomness.source import explore as explored


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_real_uniforms_are_as_claimed(dtype: str) -> None:
    """k/2^53 and k/2^24, and no coarser; half precision is float32 of the same seed, rounded, and 1 made 0."""
    kind = getattr(torch, dtype)
    drawn = torch.rand(50_000, dtype=kind, generator=torch.Generator().manual_seed(0))
    if dtype in ("float64", "float32"):
        cells = drawn.double() * 2 ** BITS[kind]
        assert bool((cells == cells.round()).all())
        assert bool((cells % 2 == 1).any())
    else:
        single = torch.rand(50_000, generator=torch.Generator().manual_seed(0)).to(kind)
        assert bool((single == 1).any())
        single[single == 1] = 0
        assert torch.equal(single, drawn)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_uniforms_are_listed_with_their_multiplicity(dtype: str) -> None:
    values, counts = every_uniform(dtype)
    ends = counts.cumsum(0)
    places = range(0, len(values), max(1, len(values) // 500))
    for place in [*places, 1, len(values) - 1]:
        first, last = int(ends[place] - counts[place]), int(ends[place]) - 1
        kind = getattr(torch, dtype)
        assert uniform_value(first, 24, kind) == uniform_value(last, 24, kind) == values[place]


@pytest.mark.parametrize(
    ("dtype", "zero"),
    [("float64", 2.0**-53), ("float32", 2.0**-24), ("float16", 2.0**-12 + 2.0**-24), ("bfloat16", 2.0**-9 + 2.0**-24)],
)
def test_every_type_has_its_own_chance_of_zero(dtype: str, zero: float) -> None:
    """What `<=` lets through where `<` does not."""
    kind = getattr(torch, dtype)
    assert explored(lambda: bool(torch.rand(1, dtype=kind) <= 0), grid=OWN_GRID) == {True: zero, False: 1 - zero}
    assert explored(lambda: bool(torch.zeros(1, dtype=kind) < torch.rand(1, dtype=kind)), grid=OWN_GRID)[False] == zero
    assert explored(lambda: bool(torch.rand(1, dtype=kind) < 0), grid=OWN_GRID) == {False: 1}
    assert explored(lambda: bool(torch.rand(1, dtype=kind) <= 0)) == {False: 1}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_on_its_own_grid_code_rounds_as_it_does(dtype: str) -> None:
    """Counted over every uniform of the type, by torch itself."""
    kind = getattr(torch, dtype)
    q, t = torch.tensor(0.3, dtype=kind), torch.tensor(0.1, dtype=kind)
    values, counts = every_uniform(dtype)
    counted = int(counts[values * q < t].sum()) / 2**24
    assert explored(lambda: bool(torch.rand((), dtype=kind) * q < t), grid=OWN_GRID)[True] == counted
    assert explored(lambda: bool(torch.rand((), dtype=kind) * q < t))[True] == float(t) / float(q)
