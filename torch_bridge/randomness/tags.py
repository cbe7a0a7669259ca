"""Random numbers in torch tensors: each one a NaN whose payload names it, so that copies and views carry it along."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any, NamedTuple

import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.clock import Clock
from spec_math.pathwise.uniform import Uniform


class _Layout(NamedTuple):
    """The payload of a floating type: a whole number of its size, the quiet NaN, and the most payloads."""

    whole: torch.dtype
    quiet: int
    most: int


_LAYOUTS = {
    torch.float64: _Layout(torch.int64, 0x7FF8 << 48, 1 << 51),
    torch.float32: _Layout(torch.int32, 0x7FC00000, 1 << 22),
    torch.float16: _Layout(torch.int16, 0x7E00, 1 << 9),
    torch.bfloat16: _Layout(torch.int16, 0x7FC0, 1 << 6),
}


class Tags:
    """The random numbers of one run by their payloads."""

    def __init__(self) -> None:
        self._numbers: list[Any] = [None]  # payload 0 is an ordinary NaN

    @property
    def none(self) -> bool:
        """True if no random number has been put into a tensor yet."""
        return len(self._numbers) == 1

    def any_in(self, tensor: torch.Tensor) -> bool:
        """Say whether a tensor holds random numbers: where its sum, which costs the least, is no NaN, none is in it."""
        if self.none or tensor.dtype not in _LAYOUTS or not isnan(tensor.detach().sum().item()):
            return False
        return bool((self.payloads(tensor) > 0).any())

    def payloads(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the payload of each entry, 0 where it is an ordinary number."""
        layout = _LAYOUTS.get(tensor.dtype)
        if self.none or layout is None:
            return torch.zeros(tensor.shape, dtype=torch.int64)
        plain = tensor.detach().cpu().contiguous()
        found = plain.view(layout.whole).to(torch.int64) - layout.quiet
        return torch.where(torch.isnan(plain) & (found > 0) & (found < len(self._numbers)), found, 0)

    def number(self, payload: int) -> Any:
        """Return the random number of a payload."""
        return self._numbers[payload]

    def entries(self, tensor: torch.Tensor) -> list[Any]:
        """Return the entries of a tensor in order: random numbers as objects, others as tensors of no dimension."""
        flat = tensor.detach().cpu().reshape(-1)
        marks = self.payloads(tensor).reshape(-1).tolist()
        return [self._numbers[mark] if mark else flat[place] for place, mark in enumerate(marks)]

    def put(self, base: torch.Tensor, entries: list[Any]) -> torch.Tensor:
        """Return a tensor like base with random numbers where entries hold them, and base's own numbers elsewhere."""
        layout = _LAYOUTS.get(base.dtype)
        if layout is None:
            raise ExploreError(f"explore follows random numbers of floating types; this tensor is {base.dtype}")
        bits = base.detach().cpu().contiguous().clone().view(layout.whole)
        flat = bits.reshape(-1)
        for place, entry in enumerate(entries):
            if isinstance(entry, Uniform | Clock):
                if len(self._numbers) >= layout.most:
                    raise ExploreError(f"{base.dtype} has room for {layout.most - 1} random numbers of a run")
                named = layout.quiet + len(self._numbers)  # as a whole number with a sign
                size = torch.iinfo(layout.whole).bits
                flat[place] = named - (1 << size) if named >> (size - 1) else named
                self._numbers.append(entry)
            elif isinstance(entry, int | float | torch.Tensor):
                flat[place] = torch.as_tensor(entry, dtype=base.dtype).view(layout.whole)
        return flat.view(base.dtype).reshape(base.shape).to(base.device)

    def forgotten(self, unwritten: torch.Tensor) -> torch.Tensor:
        """Return memory that nothing has been written to, with ordinary NaN in place of random numbers left there."""
        return unwritten.fill_(float("nan")) if self.any_in(unwritten) else unwritten

    def without(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a copy of a tensor with 1 in place of each random number."""
        return torch.where(self.payloads(tensor).to(tensor.device) > 0, torch.ones_like(tensor), tensor)


def tensors_in(values: Any) -> list[torch.Tensor]:
    """Return the tensors among arguments, in lists and tuples too."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, list | tuple):
        return []
    return [tensor for value in values for tensor in tensors_in(value)]


def mapped(values: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Return arguments with each tensor among them changed."""
    if isinstance(values, torch.Tensor):
        return change(values)
    if isinstance(values, list | tuple) and type(values) in (list, tuple):
        return type(values)(mapped(value, change) for value in values)
    return {key: mapped(value, change) for key, value in values.items()} if type(values) is dict else values
