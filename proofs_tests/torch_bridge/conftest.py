"""Small tensors on one thread: several test processes share the cores, and the threads would wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Run torch on one thread while these tests run."""
    if not find_spec("torch"):
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def p() -> Any:
    """The law that explored code draws from, as a tensor."""
    import torch

    from proofs_tests.torch_bridge.explored_laws import LAW

    return torch.tensor(LAW)
