"""The toy regime, and short blocks of few chains, so that all of them can be enumerated."""

from __future__ import annotations

from typing import Any

import pytest

from proofs_tests.studies.frontier.toy_models import TABLES
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.frontier import comparison, contenders, further
from spec_math.studies.frontier.contenders import Regime, at


@pytest.fixture(scope="module")
def toy() -> Regime:
    return at("toy", BlockModels(*TABLES, ((),), 3, "toy tables"), 1)


@pytest.fixture(scope="module", autouse=True)
def _short() -> Any:
    """Short blocks of few chains, so that all of them can be enumerated."""
    patch = pytest.MonkeyPatch()
    patch.setattr(contenders, "KS", (2, 3))
    patch.setattr(contenders, "LONGEST", 2)
    patch.setattr(comparison, "LONGEST", 2)
    patch.setattr(contenders, "DEPTHS", (1, 3))
    patch.setattr(further, "STEM_KS", (2,))
    yield
    patch.undo()
