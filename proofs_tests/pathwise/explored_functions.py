"""Functions and settings that the tests of exploration share."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import settings

F = Fraction
few = settings(max_examples=30)  # an exploration looks once at every object alive, to find generators made before


def positive(masses: Any) -> dict[int, Any]:
    return {token: mass for token, mass in enumerate(masses) if mass}


HIDDEN: Any = (np.random.default_rng(1), random.Random(1), random.random, np.random.rand, np.random.RandomState(1))
"""In a tuple, NumPy's generators are not found, and seen only by what was drawn from them."""
