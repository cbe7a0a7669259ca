"""What a device would wait for is refused."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from spec_math.token_level.batch import drafts as batch_drafts  # noqa: E402


class NoWait(TorchDispatchMode):
    """Refuses what looks at a value on the host, and takes the steps that a device does."""

    def __enter__(self) -> Any:
        self._on_host, batch_drafts.on_host = batch_drafts.on_host, lambda _: False
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        batch_drafts.on_host = self._on_host
        super().__exit__(*raised)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        if any(word in name for word in ("_local_scalar_dense", "nonzero", "masked_select", "unique", "equal.default")):
            raise AssertionError(f"{name} waits for the device")
        if "index" in name and any(_is_mask(each) for each in _listed(args)):
            raise AssertionError(f"{name} of a mask waits for the device")
        return func(*args, **(kwargs or {}))


def _listed(args: Any) -> list[Any]:
    """The indices among the arguments of an operation."""
    return [each for arg in args if isinstance(arg, list | tuple) for each in arg]


def _is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8)
