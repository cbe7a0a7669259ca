"""torch's randomness as questions to a tape: every call of torch is a draw, a use of random numbers, or passed on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.tape import Tape
from torch_bridge.later import Later
from torch_bridge.random_draws import DRAWS, Draws
from torch_bridge.random_moves import MOVING, moved
from torch_bridge.random_unseen import unseen_noted
from torch_bridge.random_uses import COMPARING, COMPUTING, GUARDING, RANKING, Uses
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
    "not_equal": "ne",
    "__eq__": "eq",
    "__ne__": "ne",
    "__pow__": "pow",
    "clip": "clamp",
    "clamp_min": "clamp",
}
_CASTING = {"to", "float", "double", "half", "bfloat16", "type", "type_as"}
_NAMED = ("sorted_sequence", "input", "boundaries", "other", "exponent")
"""Arguments of torch's functions that hold numbers, in the order in which they stand when they are not named."""
_UNWRITTEN = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
"""What hands out memory as it was left: a random number of an earlier use may still stand there."""

_STILL = {
    *MOVING,
    *COMPUTING,
    *COMPARING,
    *("__eq__", "__ne__", "__and__", "__or__", "__invert__", "__rsub__", "sum", "any", "all", "softmax", "cumsum"),
    *("minimum", "maximum", "amin", "amax", "argmin", "argmax", "isnan", "clamp", "clamp_", "arange", "to"),
}
"""What is known to draw nothing, and is called so often that a look at the generator after each call would take longer
than the calls: if one drew after all, the next draw, or the end of the run, would find the generator moved."""

_FIXED = ("shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_cuda", "is_sparse", "is_leaf")
_SIZES = (torch.Tensor.size, torch.Tensor.dim, torch.Tensor.numel)
_ASKING: set[Any] = {*_SIZES, *(getattr(torch.Tensor, name).__get__ for name in _FIXED)}
"""What reads nothing that a tensor holds, draws nothing, and is called more often than all the rest."""
_BUILT_IN = {type(function) for function in _ASKING}
"""Their types; what is of another type may have no hash."""


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
        self._tags, self.later = Tags(), Later()
        self.draws, self._uses = Draws(tape, self._tags, self.later), Uses(self._tags, self.later)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        if type(func) in _BUILT_IN and func in _ASKING:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        answered = self.later.answers.followed(func, name, args, kwargs)
        if answered is not None:
            return answered
        args, kwargs = self.later.seen(name, args, kwargs)
        if name in _UNWRITTEN:
            return self._tags.forgotten(self.later.forgotten(func(*args, **kwargs)))
        draw = DRAWS.get(name)
        if draw is not None and getattr(func, "__module__", "") != "torch.nn.init":
            with self.draws.passing():
                drawn, out = draw(self.draws, func, args, kwargs), kwargs.get("out")
                return drawn if out is None else self.later.written_out(drawn, out)
        read = {key: value for key, value in kwargs.items() if key != "out"}  # what out holds is written over, unread
        if self._tags.none or not any(self._tags.any_in(x) for x in tensors_in([args, read])):
            return _passed(self.draws, func, name, args, kwargs)
        if kwargs.get("out") is None:
            return self._used(func, name, args, read)
        raise ExploreError(f"explore does not follow torch's {name} of a random number into a tensor given as out")

    def _used(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in MOVING:
            return moved(self._tags, self._uses.in_type, func, (name, args, kwargs))
        args, kwargs = _in_order(args, kwargs)
        plain = name.removesuffix("_") if not name.startswith("__") else name
        plain = _ALIASES.get(plain, plain)
        if kwargs and (plain in COMPUTING or plain in COMPARING or (name == "cumprod" and set(kwargs) != {"dim"})):
            raise ExploreError(f"explore does not follow torch's {name} of a random number with {', '.join(kwargs)}")
        if plain in COMPARING and plain != name and not name.startswith("__") and name.endswith("_"):
            raise ExploreError(f"explore does not follow torch's {name}, which writes an answer over a random number")
        if plain in COMPUTING:
            return self._uses.computed(func, plain, name, args)
        if plain in COMPARING:
            return self._uses.compared(plain, args)
        if name in GUARDING:
            return self._uses.guarded(func, name, args)
        if name == "cumprod":
            return self._uses.multiplied(args, kwargs)
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
        raise ExploreError(f"explore does not follow torch's {name} of a random number")


def _in_order(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments with those of tensors that were given by name in their places, and the options."""
    given = {key: value for key, value in kwargs.items() if value is not None and (key, value) != ("alpha", 1)}
    named = [given.pop(key) for key in _NAMED if key in given]
    return (*args, *named), given


def _passed(draws: Draws, func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Call what draws nothing, and refuse it if it does."""
    result = func(*args, **kwargs)
    if kwargs.get("generator") is not None or (name not in _STILL and draws.moved):
        draws.leave()
        raise ExploreError(f"explore does not follow torch's {name}; it follows {', '.join(sorted(DRAWS))}")
    return result
