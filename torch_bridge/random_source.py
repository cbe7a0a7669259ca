"""torch's randomness as questions to a tape: every call of torch is a draw, a use of random numbers, or passed on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from spec_math.audit import ExploreError
from spec_math.audit.exploration.tape import Tape
from torch_bridge.random_draws import DRAWS, Draws
from torch_bridge.random_unseen import unseen_noted
from torch_bridge.random_uses import COMPARING, COMPUTING, RANKING, Uses
from torch_bridge.tagged import Tags, tensors_in

_ALIASES = {
    "true_divide": "div",
    "divide": "div",
    "subtract": "sub",
    "multiply": "mul",
    "negative": "neg",
    "rsub": "__rsub__",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "clip": "clamp",
    "clamp_min": "clamp",
}
_CASTING = {"to", "float", "double", "half", "bfloat16", "type", "type_as"}
_MOVING = {
    *("__getitem__", "__setitem__", "__get__", "__len__", "__iter__", "__hash__", "view", "view_as", "reshape"),
    *("reshape_as", "squeeze", "squeeze_", "unsqueeze", "unsqueeze_", "expand", "expand_as", "clone", "contiguous"),
    *("detach", "copy_", "cat", "concat", "stack", "gather", "index_select", "flatten", "transpose", "permute", "t"),
    *("movedim", "repeat", "where", "masked_fill", "masked_fill_", "split", "chunk", "unbind", "narrow", "select"),
    *("size", "dim", "ndimension", "numel", "stride", "is_floating_point", "is_contiguous", "empty_like", "zeros_like"),
    *("ones_like", "full_like", "new_empty", "new_zeros", "new_ones", "new_full", "result_type", "broadcast_to"),
    *("broadcast_tensors", "take_along_dim", "roll", "flip", "cpu", "fill_", "zero_", "index_put_", "index_copy_"),
    *("masked_select", "requires_grad_", "is_complex", "element_size", "get_device", "swapaxes", "tile"),
}
"""What moves numbers about or asks for shapes, and computes nothing of them."""


@contextmanager
def torch_source(tape: Tape) -> Generator[None]:
    """Follow torch's randomness onto a tape while the block lasts, on the CPU and by any torch.Generator.

    >>> with torch_source(Tape()):
    ...     torch.rand(1).item()
    <torch uniform 0>
    """
    tape.following.add(id(torch.default_generator))
    mode = _Following(tape)
    try:
        with mode, unseen_noted(tape, mode.draws):
            yield
    finally:
        mode.draws.restore()


class _Following(TorchFunctionMode):
    """Every call of torch passes here: draws become random numbers of the tape, and their uses forks of it."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self._tags = Tags()
        self.draws, self._uses = Draws(tape, self._tags), Uses(self._tags)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        draw = DRAWS.get(name)
        if draw is not None:
            with self.draws.passing():
                return draw(self.draws, func, args, kwargs)
        if self._tags.none or not any(self._tags.any_in(x) for x in tensors_in([args, kwargs])):
            return _passed(self.draws, func, name, args, kwargs)
        return self._used(func, name, args, kwargs)

    def _used(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        plain = name.removesuffix("_") if not name.startswith("__") else name
        plain = _ALIASES.get(plain, plain)
        if plain in COMPUTING:
            return self._uses.computed(func, plain, name, args)
        if plain in COMPARING:
            return self._uses.compared(plain, args)
        if plain == "clamp":
            return self._uses.kept_above(name, args, kwargs)
        if name in ("argmax", "argmin"):
            return self._uses.raced(name == "argmin", *args, **kwargs)
        if name in RANKING:
            return self._uses.ranked(name, args, kwargs)
        if name in ("searchsorted", "bucketize"):
            return self._uses.searched(name, args, kwargs)
        if name in _CASTING:
            return self._uses.cast(func, args, kwargs)
        if name in ("item", "tolist", "__float__", "__bool__"):
            return self._uses.shown(name, args[0])
        if name in _MOVING:
            return func(*args, **kwargs)
        raise ExploreError(f"explore does not follow torch's {name} of a random number")


def _passed(draws: Draws, func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Call what draws nothing, and refuse it if it does."""
    before = torch.default_generator.get_state()
    result = func(*args, **kwargs)
    if kwargs.get("generator") is not None or not torch.equal(before, torch.default_generator.get_state()):
        draws.leave()
        raise ExploreError(f"explore does not follow torch's {name}; it follows {', '.join(sorted(DRAWS))}")
    return result
