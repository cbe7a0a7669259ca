"""Tokens that were drawn and have not been looked at: whole numbers that name their draw, which forks when it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any

import torch

from spec_math.pathwise.races import Race
from torch_bridge.randomness.tags import tensors_in

FIRST = -(1 << 62)
"""The number of the first draw; that of the n-th is FIRST + n. No code has tokens so far below 0."""

LAST = FIRST + (1 << 40)

MOVING_TOKENS = {
    *("view", "view_as", "reshape", "squeeze", "unsqueeze", "expand", "clone", "contiguous", "detach", "flatten"),
    *("transpose", "permute", "t", "movedim", "repeat", "split", "chunk", "unbind", "narrow", "select", "cat"),
    *("concat", "stack", "where", "masked_fill", "copy_", "__iter__", "swapaxes", "tile", "broadcast_to", "cpu"),
    "requires_grad_",
}
"""What moves tokens about as they are, with no other argument that tells where."""

INDEXING = {"__getitem__", "gather", "index_select", "take_along_dim", "__setitem__"}
"""What moves the tokens of its first argument (and the last, where they are written) by those of another."""

_EXPORTING = {
    *("numpy", "__array__", "__dlpack__", "to_dlpack", "data_ptr", "untyped_storage", "storage", "_typed_storage"),
    *("share_memory_", "__cuda_array_interface__"),
}
"""What hands out memory that is then read and written unseen."""

ASKING = {
    *("size", "dim", "ndimension", "numel", "stride", "is_floating_point", "is_contiguous", "__len__", "__get__"),
    *("is_complex", "element_size", "get_device", "__hash__", "empty_like", "zeros_like", "ones_like"),
    *("new_empty", "new_zeros", "new_ones", "result_type"),
}
"""What asks for the shape and the type alone."""


class Later:
    """The draws of one run that nobody has looked at, by their numbers.

    >>> later = Later()
    >>> tokens = later.put([lambda: 3, lambda: 5], torch.int64)
    >>> later.seen("add", (tokens, 1), {})
    >>> tokens.tolist()
    [3, 5]
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

    def seen(self, name: str, args: Any, kwargs: Any) -> None:
        """Draw the tokens that a call of torch looks at, or hands to others, in the memory of its arguments."""
        if name in _EXPORTING:
            for one in tensors_in([args, kwargs]):
                self._export(one)
        if not self._draws or name in ASKING or not any(map(self._any_in, tensors_in([args, kwargs]))):
            return
        looks = _looked_at_by(name, args, kwargs)
        for one in tensors_in([args, looks] if self._writes_to_others(name, args, kwargs) else looks):
            _ = self.looked_at(one)

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
        """True if a call writes to memory that is read unseen."""
        written = tensors_in([args[:1] if name in ("copy_", "__setitem__") else (), kwargs.get("out")])
        return any(self._is_shared(one) for one in written)

    def _is_shared(self, tensor: torch.Tensor) -> bool:
        """True if others hold a tensor's memory: NumPy, so that torch may not resize it, or whoever asked for it."""
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
        """True if a tensor holds tokens that nobody has looked at."""
        return bool(self._draws) and self._any_in(tensor)

    def equals(self, number: int, token: int) -> bool:
        """True if what stands in a tensor is this token: of a race, nothing more is asked."""
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
    if name in MOVING_TOKENS:
        tensors = tensors_in([args, kwargs])
        cast = name == "copy_" and any(one.dtype != torch.int64 for one in tensors)
        floating = any(one.is_floating_point() or one.is_complex() for one in tensors)
        return [args, read] if cast or floating or "out" in kwargs or _tells_a_type([args, kwargs]) else []
    if name == "__setitem__":
        tensor, index, value = args
        return [index] if isinstance(value, torch.Tensor) and tensor.dtype == value.dtype else [index, value]
    return [args[1:] if name in INDEXING else args, read]


def _tells_a_type(values: Any) -> bool:
    """True if a number or a type among the arguments may make tokens into numbers of another type."""
    if isinstance(values, list | tuple):
        return any(_tells_a_type(value) for value in values)
    if isinstance(values, dict):
        return _tells_a_type(list(values.values()))
    return isinstance(values, float | complex | torch.dtype)


_COMPARING = {"eq", "ne", "__eq__", "__ne__"}
_CASTING = {"int", "long", "short", "float", "double", "to", "type"}
"""What makes numbers of answers, with no other tensor at hand."""


class Answers:
    """The masks of one run that hold no answers yet, with the questions behind them.

    A comparison of tokens asks nothing; a product along a dimension asks no more once it is 0, as the length of the
    prefix that matches does. Whatever else meets a mask has it filled in first.

    >>> asked = []
    >>> answers = Answers(lambda tensor: bool((tensor < 0).any()), lambda name, token: asked.append(name) or False)
    >>> mask = answers.followed(torch.eq, "eq", (torch.tensor([-1, -2]), torch.tensor([5, 6])), {})
    >>> product = answers.followed(torch.cumprod, "cumprod", (mask, 0), {})
    >>> _ = answers.followed(torch.sum, "sum", (product,), {})
    >>> product.tolist(), asked
    ([0, 0], [-1])
    """

    def __init__(self, waits_in: Callable[[torch.Tensor], bool], equals: Callable[[int, int], bool]) -> None:
        self._waits_in, self._equals = waits_in, equals
        self._open: dict[int, tuple[torch.Tensor, list[_Answer]]] = {}

    def followed(self, func: Any, name: str, args: Any, kwargs: Any) -> torch.Tensor | None:
        """Return a mask to be filled in later; None where the call is to be made as it is, on masks that are filled."""
        if name in _COMPARING and len(args) == 2 and not kwargs and self._is_asking(*args):
            return self._compared(func, name, *args)
        first: Any = args[0] if args else None
        if self._open and id(first) in self._open:
            if name in _CASTING and len(tensors_in([args, kwargs])) == 1:
                return self._kept(func(*args, **kwargs), self._open[id(first)][1])
            if name == "cumprod" and "out" not in kwargs:
                return self._multiplied(func, args, kwargs)
        for tensor in tensors_in([args, kwargs]) if self._open else ():
            if id(tensor) in self._open:
                shown = name == "__get__" and not isinstance(func(args[0]), torch.Tensor)
                if not shown and name not in ("size", "dim", "numel", "__len__"):  # these read nothing that it holds
                    self.fill(tensor)
        return None

    def fill(self, tensor: torch.Tensor) -> None:
        """Ask what a mask is to hold, and write it."""
        _, answers = self._open.pop(id(tensor), (None, None))
        if answers is not None:
            values = torch.tensor([answer() for answer in answers]).to(tensor.dtype)
            tensor.copy_(values.reshape(tensor.shape))

    def _is_asking(self, one: Any, other: Any) -> bool:
        """True if tokens that wait are compared with whole numbers that do not."""
        waiting = [side for side in (one, other) if isinstance(side, torch.Tensor) and self._waits_in(side)]
        return len(waiting) == 1 and self._is_whole(one) and self._is_whole(other)

    def _is_whole(self, side: Any) -> bool:
        if isinstance(side, torch.Tensor):
            return id(side) not in self._open and side.dtype in (torch.int64, torch.int32)
        return isinstance(side, int) and not isinstance(side, bool)

    def _compared(self, func: Any, name: str, one: Any, other: Any) -> torch.Tensor:
        mask = func(one, other)
        if isinstance(one, int) or not self._waits_in(one):
            one, other = other, one
        names, tokens = (torch.as_tensor(side).expand(mask.shape).reshape(-1).tolist() for side in (one, other))
        equal, pairs = "ne" not in name, zip(names, tokens, strict=True)
        return self._kept(mask, [cache(partial(self._says, *pair, equal)) for pair in pairs])

    def _says(self, number: int, token: int, equal: bool) -> bool:
        return self._equals(number, token) == equal

    def _multiplied(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        product = func(*args, **kwargs)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        answers = self._open[id(args[0])][1]
        places = torch.arange(len(answers)).reshape(product.shape).movedim(dim, -1)
        found: dict[int, _Answer] = {}
        for row in places.reshape(-1, places.shape[-1]).tolist():
            found |= zip(row, accumulate([answers[place] for place in row], _both), strict=True)
        return self._kept(product, [found[place] for place in range(len(answers))])

    def _kept(self, mask: torch.Tensor, answers: list[_Answer]) -> torch.Tensor:
        self._open[id(mask)] = mask, answers
        return mask


_Answer = Callable[[], bool]


def _both(first: _Answer, second: _Answer) -> _Answer:
    """True if both of two answers are yes; the second is asked for where the first is."""
    return lambda: first() and second()
