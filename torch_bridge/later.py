"""Tokens that were drawn and have not been looked at: whole numbers that name their draw, which forks when it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from spec_math.audit.exploration.pieces import Race
from torch_bridge.answers import Answers
from torch_bridge.tagged import mapped, tensors_in

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
    ([3, 5], 2)
    """

    def __init__(self) -> None:
        self._draws: list[Callable[[], int]] = []
        self._known: dict[int, int] = {}
        self.answers = Answers(self.waits_in, self.equals)

    def put(self, draws: Sequence[Callable[[], int]], dtype: torch.dtype) -> torch.Tensor:
        """Return tokens [n] that are drawn when they are looked at."""
        first = FIRST + len(self._draws)
        self._draws += draws
        return torch.arange(first, first + len(draws), dtype=torch.int64).to(dtype)

    def seen(self, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the arguments of a call of torch with those tokens drawn that it looks at."""
        if not self._draws or not any(self._any_in(one) for one in tensors_in([args, kwargs])):
            return args, kwargs
        if name in _ASKING:
            return args, kwargs
        kept = _kept(name, args, kwargs)
        rest = mapped(args[len(kept) :], self.looked_at) if name != "__setitem__" else _written(args, self.looked_at)
        if name.endswith("_") and not name.endswith("__") and not kept:
            args[0].copy_(self.looked_at(args[0]))
            return (args[0], *rest[1:]), {key: mapped(one, self.looked_at) for key, one in kwargs.items()}
        args = (*kept, *rest) if name != "__setitem__" else rest
        return args, kwargs if name in _MOVING and kept else {
            key: mapped(one, self.looked_at) for key, one in kwargs.items()
        }

    def looked_at(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor with all of its tokens drawn."""
        self.answers.fill(tensor)
        if not self._any_in(tensor):
            return tensor
        flat = tensor.detach().reshape(-1).tolist()
        values = [self._value(number) if FIRST <= number < LAST else number for number in flat]
        return torch.tensor(values, dtype=tensor.dtype).reshape(tensor.shape)

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


def _kept(name: str, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """Return the first arguments whose tokens are moved and not looked at: all, the first, or none."""
    if name in _MOVING:
        tensors = list(tensors_in([args, kwargs]))
        cast = name == "copy_" and any(one.dtype != torch.int64 for one in tensors)
        floating = any(one.is_floating_point() or one.is_complex() for one in tensors)
        return () if cast or floating or "out" in kwargs or _tells_a_type([args, kwargs]) else args
    return args[:1] if name in _INDEXING else ()


def _tells_a_type(values: Any) -> bool:
    """Whether a number or a type among the arguments may make tokens into numbers of another type."""
    if isinstance(values, list | tuple):
        return any(_tells_a_type(value) for value in values)
    if isinstance(values, dict):
        return _tells_a_type(list(values.values()))
    return isinstance(values, float | complex | torch.dtype)


def _written(args: Any, look: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Arguments of x[index] = value: the index is looked at, and the value too if it is cast."""
    tensor, index, value = args
    same = isinstance(value, torch.Tensor) and tensor.dtype == value.dtype
    return tensor, mapped(index, look), value if same else mapped(value, look)
