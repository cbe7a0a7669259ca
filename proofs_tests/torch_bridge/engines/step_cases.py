"""The zoo's toy laws as arrays of floats, and the laws of its specimens."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")


from spec_math.audit import ZOO
from spec_math.audit.zoo import toy
from spec_math.block_level.lossless import emitted_law

TARGET = np.array([[float(mass) for mass in row] for row in toy.TARGET])


DRAFT = np.array([[float(mass) for mass in row] for row in toy.DRAFT])


TARGET, DRAFT = (rows / rows.sum(-1, keepdims=True) for rows in (TARGET, DRAFT))


def target(prefix: Any) -> Any:
    return TARGET[len(prefix) % 3]


@cache
def known(name: str) -> Any:
    """A specimen's law of three tokens."""
    entry = next(entry for entry in ZOO if entry.name == name)
    assert entry.generate is not None
    return {text: float(mass) for text, mass in emitted_law(entry.generate, toy.target, 3).items()}
