"""Operations of torch on tensors of random numbers: computing, comparing, racing, ranking, searching, showing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.clock import Clock
from spec_math.pathwise.races import race
from spec_math.pathwise.uniform import Uniform
from torch_bridge.randomness.tags import Tags, mapped, tensors_in
from torch_bridge.randomness.tokens import ASKING, INDEXING, MOVING_TOKENS, Later

COMPARING = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
GUARDING = ("isnan", "isinf", "isfinite")
"""Claims that hold of a random number almost surely, or do not."""

_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "pow")},
    "div": operator.truediv,
    "__rsub__": lambda a, b: b - a,
    "__rdiv__": lambda a, b: b / a,
}
_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "reciprocal": lambda a: 1 / a,
    "sqrt": lambda a: a ** Fraction(1, 2),
    "log": lambda a: a.log(),
    "log1p": lambda a: (1 + a).log(),
}
COMPUTING: dict[str, Callable[..., Any]] = {**_OF_TWO, **_OF_ONE}
RANKING = {"topk", "sort", "argsort", "max", "min"}


class Uses:
    """Torch's functions of tensors that hold random numbers of one run."""

    def __init__(self, tags: Tags, later: Later | None = None) -> None:
        self._tags, self._later = tags, later or Later()

    def computed(self, func: Any, plain: str, name: str, args: Any) -> Any:
        """Compute entry by entry, in place where the name ends in an underscore."""
        safe = mapped(args, self._tags.without)
        in_place = name.endswith("_") and not name.endswith("__")
        base = getattr(torch.Tensor, name.removesuffix("_"))(*safe) if in_place else func(*safe)
        spread = [x.expand(base.shape) if isinstance(x, torch.Tensor) else x for x in args]
        columns = [self._tags.entries(x) if isinstance(x, torch.Tensor) else [x] * base.numel() for x in spread]
        entries: list[Any] = [None] * base.numel()
        for place, row in enumerate(zip(*columns, strict=True)):
            if any(isinstance(one, Uniform | Clock) for one in row):
                entries[place] = _plain(COMPUTING[plain](*(_in_type(one, base.dtype) for one in row)))
        result = self._tags.put(base, entries)
        return args[0].copy_(self.in_type(result, args[0].dtype)) if in_place else result

    def kept_above(self, name: str, args: Any, kwargs: Any) -> torch.Tensor:
        """clamp and clamp_min by a bound that is 0 or small."""
        tensor = args[0]
        least = kwargs.get("min", args[1] if len(args) > 1 else None)
        most = kwargs.get("max", args[2] if len(args) > 2 else None)
        if least is None or most is not None or isinstance(least, torch.Tensor):
            raise ExploreError("explore follows clamp(min=…) of a random number, by a number that is 0 or small")
        entries = self._tags.entries(tensor)
        kept = [one.kept_above(least) if isinstance(one, Uniform | Clock) else None for one in entries]
        result = self._tags.put(self._tags.without(tensor).clamp(min=least), kept)
        return tensor.copy_(result) if name.endswith("_") else result

    def compared(self, plain: str, args: Any) -> torch.Tensor:
        """Compare entry by entry; each comparison with a random number forks."""
        left, right = args[0], args[1]
        dtype = torch.result_type(left, right)
        shape = np.broadcast_shapes(*(x.shape if isinstance(x, torch.Tensor) else () for x in (left, right)))
        # A Python number is compared in the type of the tensor beside it, not in torch's default type.
        tensors = [x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=dtype) for x in (left, right)]
        sides = [self._tags.entries(x.expand(shape)) for x in tensors]
        relation = COMPARING[plain]
        answers = [bool(relation(_in_type(a, dtype), _in_type(b, dtype))) for a, b in zip(*sides, strict=True)]
        return torch.tensor(answers, dtype=torch.bool).reshape(shape)

    def guarded(self, func: Any, name: str, args: Any) -> torch.Tensor:
        """isnan, isinf, isfinite: what almost surely holds of random numbers."""
        plain = func(self._tags.without(args[0]))
        pairs = zip(self._tags.entries(args[0]), plain.reshape(-1).tolist(), strict=True)
        answers = [_holds(name, one) if isinstance(one, Uniform | Clock) else other for one, other in pairs]
        return torch.tensor(answers, dtype=torch.bool).reshape(plain.shape)

    def multiplied(self, args: Any, kwargs: Any) -> torch.Tensor:
        """cumprod: products of random numbers, each of which is gone through on a stated grid."""
        tensor, dim = args[0], kwargs.get("dim", args[1] if len(args) > 1 else None)
        rows = tensor.movedim(dim, -1)
        flat = rows.reshape(-1, rows.shape[-1])
        entries = [product for row in flat for product in accumulate(self._row(row), operator.mul)]
        base = self._tags.without(rows).contiguous()
        return self._tags.put(base, entries).movedim(-1, dim)

    def raced(
        self, smallest: bool, tensor: torch.Tensor, dim: int | None = None, keepdim: bool = False
    ) -> torch.Tensor:
        """argmin and argmax: a race in each row."""
        rows = tensor.reshape(1, -1) if dim is None else tensor.movedim(dim, -1)
        entries = [self._row(row) for row in rows.reshape(-1, rows.shape[-1])]
        races = [partial(race, row, smallest) for row in entries]
        result = self._later.put(races, torch.int64).reshape(rows.shape[:-1] if dim is not None else ())
        return result.unsqueeze(dim) if keepdim and dim is not None else result

    def ranked(self, name: str, args: Any, kwargs: Any) -> Any:
        """topk, sort, argsort, and max and min along a dimension: one race after another among those left."""
        along = ("input", "dim", "keepdim")
        names = {"topk": ("input", "k", "dim", "largest", "sorted"), "max": along, "min": along}
        named = dict(zip(names.get(name, ("input", "dim", "descending", "stable")), args, strict=False)) | kwargs
        tensor = args[0]
        if name in ("max", "min") and not isinstance(named.get("dim"), int):
            raise ExploreError(f"explore follows {name} of random numbers along one dimension, for its indices")
        dim = named.get("dim", -1)
        lowest = {"topk": not named.get("largest", True), "max": False, "min": True}
        smallest = lowest.get(name, not named.get("descending", False))
        rows = tensor.movedim(dim, -1)
        size = {"topk": named.get("k"), "max": 1, "min": 1}.get(name, rows.shape[-1])
        order = [_order(self._row(row), size, smallest) for row in rows.reshape(-1, rows.shape[-1])]
        places = torch.tensor(order, dtype=torch.int64).reshape(*rows.shape[:-1], size).movedim(-1, dim)
        if name == "argsort":
            return places
        values = tensor.gather(dim, places)
        if name in ("max", "min") and not named.get("keepdim", False):
            values, places = values.squeeze(dim), places.squeeze(dim)
        return getattr(torch.return_types, name)((values, places))

    def searched(self, name: str, args: Any, kwargs: Any) -> torch.Tensor:
        """searchsorted(sums, u) and bucketize(u, sums): the first sum that is at least u, or above it if right."""
        first, second = args[0], args[1]
        sums, values = (first, second) if name == "searchsorted" else (second, first)
        right = kwargs.get("right", False) or kwargs.get("side") == "right"
        if self._tags.any_in(sums) or kwargs.get("sorter") is not None:
            raise ExploreError(f"explore follows {name} of random numbers in ordinary sorted sums")
        values = torch.as_tensor(values)
        flat = values.reshape(-1, values.shape[-1]) if values.dim() else values.reshape(1, 1)
        rows = sums.reshape(-1, sums.shape[-1])
        dtype = torch.result_type(sums, values)
        pairs = [(entry, rows[row % len(rows)]) for row, line in enumerate(flat) for entry in self._tags.entries(line)]
        found = [_place(_in_type(entry, dtype), row.to(dtype), right) for entry, row in pairs]
        return torch.tensor(found, dtype=torch.int64).reshape(values.shape)

    def cast(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """Change the type: on the ideal coin nothing, on a grid a rounding."""
        dtype = func(self._tags.without(args[0]), *args[1:], **kwargs).dtype
        return func(*args, **kwargs) if dtype == args[0].dtype else self.in_type(args[0], dtype)

    def in_type(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Return a tensor in another floating type, its random numbers with it."""
        if tensor.dtype == dtype:
            return tensor
        entries = [_rounded(one, dtype) if isinstance(one, Uniform) else one for one in self._tags.entries(tensor)]
        return self._tags.put(self._tags.without(tensor).to(dtype), entries)

    def shown(self, name: str, tensor: torch.Tensor) -> Any:
        """item and tolist: the random numbers themselves, as objects."""
        entries = self._row(tensor)
        if name == "tolist":
            listed = np.empty(len(entries), dtype=object)
            listed[:] = entries
            return listed.reshape(tensor.shape).tolist()
        if name == "item" and len(entries) == 1:
            return entries[0]
        raise ExploreError(f"explore does not follow {name} of a tensor of random numbers; compare it instead")

    def _row(self, tensor: torch.Tensor) -> list[Any]:
        return [_plain(entry) for entry in self._tags.entries(tensor)]


def _holds(name: str, number: Uniform | Clock) -> bool:
    """Say what isnan, isinf or isfinite almost surely says of a random number."""
    infinite = isinstance(number, Clock) and number.never in (float("inf"), float("-inf"))
    return infinite if name == "isinf" else name == "isfinite" and not infinite


def _order(entries: list[Any], size: int, smallest: bool) -> list[int]:
    left = list(range(len(entries)))
    return [left.pop(race([entries[place] for place in left], smallest)) for _ in range(size)]


def _place(value: Any, sums: torch.Tensor, right: bool) -> int:
    reached = (place for place, total in enumerate(sums) if bool(value < total if right else value <= total))
    return next(reached, len(sums))


def _in_type(entry: Any, dtype: torch.dtype) -> Any:
    """Return an ordinary entry in the type that torch computes in."""
    if isinstance(entry, torch.Tensor):
        return entry.to(dtype)
    return _rounded(entry, dtype) if isinstance(entry, Uniform) else entry


def _rounded(number: Uniform, dtype: torch.dtype) -> Uniform:
    """Return a uniform cast to a type: on the ideal coin itself, on a grid rounded."""
    result = Uniform(number.atom, number.number)
    result.scale, result.shift, result.bends = number.scale, number.shift, number.bends
    result.steps = (*number.steps, lambda x: torch.as_tensor(x).to(dtype))
    return result


def _plain(entry: Any) -> Any:
    return entry.item() if isinstance(entry, torch.Tensor) else entry


_SHAPES = {*ASKING, "requires_grad_"}
"""What asks for shapes and types alone, or makes a tensor of numbers of its own."""
_MOVING = {
    *(*MOVING_TOKENS, *INDEXING, "reshape_as", "squeeze_", "unsqueeze_", "expand_as", "masked_fill_", "full_like"),
    *("new_full", "broadcast_tensors", "roll", "flip", "fill_", "zero_", "index_put_", "index_copy_", "scatter"),
    *("scatter_", "index_fill", "index_fill_", "masked_scatter", "masked_scatter_", "triu", "tril", "masked_select"),
}
"""What moves numbers about and computes nothing of them."""
_ADDING = ("accumulate", "reduce")
"""Options under which something that moves numbers adds or multiplies them too."""

MOVING = _SHAPES | _MOVING


def moved(tags: Tags, cast: Callable[[torch.Tensor, torch.dtype], torch.Tensor], func: Any, call: Any) -> Any:
    """Call what moves numbers, with random numbers first cast to the type that they arrive in.

    `call` is the function's name, its arguments and its keyword arguments. Raises ExploreError where random numbers
    would be added, or arrive in a type that is no floating type.
    """
    name, args, kwargs = call
    if name in _SHAPES:
        return func(*args, **kwargs)
    if any(kwargs.get(option) for option in _ADDING) or (name == "index_put_" and len(args) > 3 and args[3]):
        raise ExploreError(f"explore does not follow torch's {name} of a random number that adds or multiplies")
    arriving = _arriving(tags, func, name, args, kwargs)

    def kept(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor.dtype == arriving or not tags.any_in(tensor) else cast(tensor, arriving)

    written = args[:1] if _writes(name) else ()
    return func(*written, *mapped(args[len(written) :], kept), **mapped(kwargs, kept))


def _writes(name: str) -> bool:
    return name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))


def _arriving(tags: Tags, func: Any, name: str, args: Any, kwargs: Any) -> torch.dtype:
    """Return the type of the numbers that come out: of the tensor written into, or of the result on plain numbers."""
    if _writes(name):
        return args[0].dtype
    plain = tensors_in([func(*mapped(args, tags.without), **mapped(kwargs, tags.without))])[0]
    if name == "view" and plain.dtype != args[0].dtype:
        raise ExploreError("explore does not follow torch's view of a random number in another type")
    return plain.dtype
