"""The law that functions are explored with, as a tensor."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def p() -> Any:
    """The law that explored code draws from, as a tensor."""
    import torch

    from proofs_tests.torch_bridge.explored_laws import LAW

    return torch.tensor(LAW)
