"""The distance of a speculative step in half or single precision from its target, exactly, without one random number.

Source: Timor et al., Alg. 5, one step in floating point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from spec_math.arrays import as_laws
from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.exploration import Explored
from spec_math.pathwise.tape import OWN_GRID
from torch_bridge.randomness.source import explore


class FloatStep(NamedTuple):
    """Total variation between what a step emits and its exact target: by ideal coins, and by the type's own.

    >>> FloatStep(ideal=0.0, own_grid=2.0**-25).own_grid
    2.9802322387695312e-08
    """

    ideal: float
    own_grid: float


def float_step(target: Any, draft: Any, dtype: torch.dtype) -> FloatStep:
    """Return the total variation error of `step` in a type, for laws [V] given more precisely than it holds.

    The error is that of storing both laws and of the arithmetic of the thresholds. On the type's own uniforms it is
    also that of the grid, k/2^24 rounded to the type, and of scaling a uniform, which on ideal coins does not round.

    Raises:
        ValueError, TypeError: target or draft is not a probability distribution.

    >>> float_step([0.25, 0.75], [0.5, 0.5], torch.float32)
    FloatStep(ideal=0.0, own_grid=0.0)
    """
    wanted, drafted = as_laws(target, draft)
    t, d = (torch.tensor([float(mass) for mass in law], dtype=dtype) for law in (wanted, drafted))
    errors = [_distance(explore(lambda: step(t, d), grid=grid), wanted) for grid in (None, OWN_GRID)]
    return FloatStep(*errors)


def step(target: torch.Tensor, draft: torch.Tensor) -> int:
    """Draft a token, test it and correct it, in the type of two laws [V], with three uniforms of that type."""
    token = drawn(draft)
    u = torch.rand((), dtype=draft.dtype)
    return token if bool(u * draft[token] < target[token]) else drawn((target - draft).clamp(min=0))


def drawn(masses: torch.Tensor) -> int:
    """Draw a token in proportion to masses [V] by one uniform of their type: the first running sum above u·total."""
    sums = masses.cumsum(-1)
    u = torch.rand((), dtype=masses.dtype)
    return int((sums > u * sums[-1]).int().argmax())


def _distance(found: Any, wanted: Any) -> float:
    if not isinstance(found, Explored):
        raise ExploreError("a step of so many tokens has more paths than the budget; explore it with a larger one")
    return sum(abs(float(mass) - found.get(token, 0.0)) for token, mass in enumerate(wanted)) / 2
