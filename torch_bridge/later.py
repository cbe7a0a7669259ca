"""Tokens that were drawn and have not been looked at: whole numbers that name their draw, which forks when it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from spec_math.audit.exploration.pieces import Race
from torch_bridge.answers import Answers
from torch_bridge.tagged import tensors_in

FIRST = -(1 << 62)
"""The number of the first draw; that of the n-th is FIRST + n. No code has tokens so far below 0."""

LAST = FIRST + (1 << 40)

_MOVING = {
    *("view", "view_as", "reshape", "squeeze", "unsqueeze", "expand", "clone", "contiguous", "detach", "flatten"),
    *("transpose", "permute", "t", "movedim", "repeat", "split", "chunk", "unbind", "narrow", "select", "cat"),
    *("concat", "stack", "where", "masked_fill", "copy_", "__iter__", "swapaxes", "tile", "broadcast_to", "cpu"),
    "requires_grad_",
}
"""What moves tokens about as they are, with no other argument that tells where."""

_INDEXING = {"__getitem__", "gather", "index_select", "take_along_dim", "__setitem__"}
"""What moves the tokens of its first argument (and the last, where they are written) by those of another."""

_EXPORTING = {
    *("numpy", "__array__", "__dlpack__", "to_dlpack", "data_ptr", "untyped_storage", "storage", "_typed_storage"),
    *("share_memory_", "__cuda_array_interface__"),
}
"""What hands out memory that is then read and written unseen."""

_ASKING = {
    *("size", "dim", "ndimension", "numel", "stride", "is_floating_point", "is_contiguous", "__len__", "__get__"),
    *("is_complex", "element_size", "get_device", "__hash__", "empty_like", "zeros_like", "ones_like"),
    *("new_empty", "new_zeros", "new_ones", "result_type"),
}
"""What asks for the shape and the type alone."""


class Later:
    """The draws of one run that nobody has looked at, by their numbers.

    >>> later = Later()
    >>> tokens = later.put([lambda: 3, lambda: 5], torch.int64)
    >>> (args, _), left = later.seen("add", (tokens, 1), {}), tokens.lt(LAST).sum().item()
    >>> args[0].tolist(), left
    ([3, 5], 0)
    """

    def __init__(self) -> None:
        self._draws: list[Callable[[], int]] = []
        self._known: dict[int, int] = {}
        self.answers = Answers(self.waits_in, self.equals)
        self._shared: set[int] = set()

    def put(self, draws: Sequence[Callable[[], int]], dtype: torch.dtype) -> torch.Tensor:
        """Return tokens [n] that are drawn when they are looked at."""
        first = FIRST + len(self._draws)
        self._draws += draws
        return torch.arange(first, first + len(draws), dtype=torch.int64).to(dtype)

    def seen(self, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Draw the tokens that a call of torch looks at, or hands to others; return its arguments."""
        if name in _EXPORTING:
            for one in tensors_in([args, kwargs]):
                self._export(one)
        if not self._draws or not any(self._any_in(one) for one in tensors_in([args, kwargs])):
            return args, kwargs
        if name in _ASKING:
            return args, kwargs
        looks = _looked_at_by(name, args, kwargs)
        if self._writes_to_others(name, args, kwargs):
            looks = [args, looks]
        for one in tensors_in(looks):
            _ = self.looked_at(one)
        return args, kwargs

    def looked_at(self, tensor: torch.Tensor) -> torch.Tensor:
        """Draw all tokens in a tensor, in its memory, so that whatever shares the memory has them too; return it."""
        self.answers.fill(tensor)
        if not self._any_in(tensor):
            return tensor
        with torch.inference_mode():
            own = tensor.data
            for dim, step in enumerate(own.stride()):
                own = own.narrow(dim, 0, 1) if step == 0 and own.shape[dim] > 1 else own
            values = [self._value(one) if FIRST <= one < LAST else one for one in own.reshape(-1).tolist()]
            own.copy_(torch.tensor(values, dtype=own.dtype).reshape(own.shape))
        return tensor

    def written_out(self, drawn: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Write what was drawn into a tensor, and its tokens themselves where others share that memory; return it."""
        return out.copy_(self.looked_at(drawn) if self._is_shared(out) else drawn)

    def _writes_to_others(self, name: str, args: Any, kwargs: Any) -> bool:
        """Whether a call writes to memory that is read unseen."""
        written = tensors_in([args[:1] if name in ("copy_", "__setitem__") else (), kwargs.get("out")])
        return any(self._is_shared(one) for one in written)

    def _is_shared(self, tensor: torch.Tensor) -> bool:
        """Whether others hold a tensor's memory: NumPy, so that torch may not resize it, or whoever asked for it."""
        memory = tensor.untyped_storage()
        return not memory.resizable() or memory.data_ptr() in self._shared

    def _export(self, tensor: torch.Tensor) -> None:
        """Draw all tokens in the memory of a tensor, and remember that others have it."""
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            return
        memory = tensor.untyped_storage()
        self._shared.add(memory.data_ptr())
        if tensor.dtype == torch.int64:
            _ = self.looked_at(tensor.new_empty(0).set_(memory, 0, (memory.nbytes() // 8,), (1,)))

    def forgotten(self, unwritten: torch.Tensor) -> torch.Tensor:
        """Return memory that nothing has been written to, with 0 in place of tokens that were left there."""
        return unwritten.fill_(0) if self._any_in(unwritten) else unwritten

    def waits_in(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor holds tokens that nobody has looked at."""
        return bool(self._draws) and self._any_in(tensor)

    def equals(self, number: int, token: int) -> bool:
        """Whether what stands in a tensor is this token: of a race, nothing more is asked."""
        if not FIRST <= number < LAST:
            return number == token
        draw = self._draws[number - FIRST]
        if number - FIRST in self._known or not isinstance(draw, Race):
            return self._value(number) == token
        return draw.is_won_by(token)

    def _value(self, number: int) -> int:
        place = number - FIRST
        if place not in self._known:
            self._known[place] = self._draws[place]()
        return self._known[place]

    def _any_in(self, tensor: torch.Tensor) -> bool:
        return tensor.dtype == torch.int64 and bool((tensor < LAST).any())


def _looked_at_by(name: str, args: Any, kwargs: Any) -> Any:
    """Return the arguments whose tokens a call looks at: all but those that it moves, and what it writes over."""
    read = {key: one for key, one in kwargs.items() if key != "out"}
    if name in _MOVING:
        tensors = tensors_in([args, kwargs])
        cast = name == "copy_" and any(one.dtype != torch.int64 for one in tensors)
        floating = any(one.is_floating_point() or one.is_complex() for one in tensors)
        return [args, read] if cast or floating or "out" in kwargs or _tells_a_type([args, kwargs]) else []
    if name == "__setitem__":
        tensor, index, value = args
        return [index] if isinstance(value, torch.Tensor) and tensor.dtype == value.dtype else [index, value]
    return [args[1:] if name in _INDEXING else args, read]


def _tells_a_type(values: Any) -> bool:
    """Whether a number or a type among the arguments may make tokens into numbers of another type."""
    if isinstance(values, list | tuple):
        return any(_tells_a_type(value) for value in values)
    if isinstance(values, dict):
        return _tells_a_type(list(values.values()))
    return isinstance(values, float | complex | torch.dtype)
