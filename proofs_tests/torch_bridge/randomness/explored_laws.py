"""The law that the tests of exploration in torch draw from."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")
LAW = [0.125, 0.375, 0.5]


def law_of(masses: list[float]) -> dict[int, float]:
    return dict(enumerate(masses))
