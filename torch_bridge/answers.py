"""Whether tokens that nobody has looked at are these ones: masks that are filled in when they are used.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torch_bridge.tagged import tensors_in

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
        if self._open:
            for tensor in tensors_in([args, kwargs]):
                if id(tensor) in self._open and not _asks_for_no_tensor(func, name, args):
                    self.fill(tensor)
        return None

    def fill(self, tensor: torch.Tensor) -> None:
        """Ask what a mask is to hold, and write it."""
        _, answers = self._open.pop(id(tensor), (None, None))
        if answers is not None:
            values = torch.tensor([answer() for answer in answers]).to(tensor.dtype)
            tensor.copy_(values.reshape(tensor.shape))

    def _is_asking(self, one: Any, other: Any) -> bool:
        """Whether tokens that wait are compared with whole numbers that do not."""
        sides = [one, other]
        waiting = [side for side in sides if isinstance(side, torch.Tensor) and self._waits_in(side)]
        return len(waiting) == 1 and all(self._is_whole(side) for side in sides)

    def _is_whole(self, side: Any) -> bool:
        if isinstance(side, torch.Tensor):
            return id(side) not in self._open and side.dtype in (torch.int64, torch.int32)
        return isinstance(side, int) and not isinstance(side, bool)

    def _compared(self, func: Any, name: str, one: Any, other: Any) -> torch.Tensor:
        mask = func(one, other)
        if isinstance(one, int) or not self._waits_in(one):
            one, other = other, one
        names, tokens = (torch.as_tensor(side).expand(mask.shape).reshape(-1).tolist() for side in (one, other))
        wanted = "ne" not in name
        return self._kept(mask, [_Asked(self._equals, *pair, wanted) for pair in zip(names, tokens, strict=True)])

    def _multiplied(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        product = func(*args, **kwargs)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        answers = self._open[id(args[0])][1]
        places = torch.arange(len(answers)).reshape(product.shape).movedim(dim, -1)
        found: dict[int, _Answer] = {}
        for row in places.reshape(-1, places.shape[-1]).tolist():
            before: _Answer | None = None
            for place in row:
                before = found[place] = answers[place] if before is None else _Both(before, answers[place])
        return self._kept(product, [found[place] for place in range(len(answers))])

    def _kept(self, mask: torch.Tensor, answers: list[_Answer]) -> torch.Tensor:
        self._open[id(mask)] = mask, answers
        return mask


def _asks_for_no_tensor(func: Any, name: str, args: Any) -> bool:
    """Whether a call reads the shape, the type or the like of a tensor, and none of what it holds."""
    return name in ("size", "dim", "numel", "__len__") or (
        name == "__get__" and not isinstance(func(args[0]), torch.Tensor)
    )


class _Asked:
    """Whether one token is this one, asked once."""

    def __init__(self, equals: Callable[[int, int], bool], number: int, token: int, wanted: bool) -> None:
        self._ask, self._known = (lambda: equals(number, token) == wanted), None

    def __call__(self) -> bool:
        if self._known is None:
            self._known = self._ask()
        return self._known


class _Both:
    """Whether both of two answers are yes; the second is asked for where the first is."""

    def __init__(self, first: _Answer, second: _Answer) -> None:
        self._first, self._second = first, second

    def __call__(self) -> bool:
        return self._first() and self._second()


_Answer = _Asked | _Both
