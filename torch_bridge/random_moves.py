"""Moving random numbers between tensors: they keep their names only where the type of the numbers stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from spec_math.audit.exploration.atom import ExploreError
from torch_bridge.tagged import Tags, mapped, tensors_in

_SHAPES = {
    *("__get__", "__len__", "__hash__", "size", "dim", "ndimension", "numel", "stride", "is_floating_point"),
    *("is_contiguous", "is_complex", "element_size", "get_device", "result_type", "zeros_like", "ones_like"),
    *("new_zeros", "new_ones", "requires_grad_"),
}
"""What asks for shapes and types alone, or makes a tensor of numbers of its own."""
_MOVING = {
    *("__getitem__", "__setitem__", "__iter__", "view", "view_as", "reshape", "reshape_as", "squeeze", "squeeze_"),
    *("unsqueeze", "unsqueeze_", "expand", "expand_as", "clone", "contiguous", "detach", "copy_", "cat", "concat"),
    *("stack", "gather", "index_select", "flatten", "transpose", "permute", "t", "movedim", "repeat", "where"),
    *("masked_fill", "masked_fill_", "split", "chunk", "unbind", "narrow", "select", "full_like", "new_full"),
    *("broadcast_to", "broadcast_tensors", "take_along_dim", "roll", "flip", "cpu", "fill_", "zero_", "index_put_"),
    *("index_copy_", "scatter", "scatter_", "index_fill", "index_fill_", "masked_scatter", "masked_scatter_", "triu"),
    *("tril", "masked_select", "swapaxes", "tile"),
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
        if tensor.dtype == arriving or not tags.any_in(tensor):
            return tensor
        return cast(tensor, arriving)

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
