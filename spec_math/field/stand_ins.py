"""Stand-ins that compute: jax and keras on NumPy, einops.rearrange, parts of vllm, torch without pins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from spec_math.pathwise.tape import GivenKey

Key = tuple[int, ...]


def split(key: Key, many: int = 2) -> list[Key]:
    """Return new keys, each its own.

    >>> split((0,))
    [(0, 0), (0, 1)]
    """
    return [_longer(key, place) for place in range(many)]


def uniform(key: Key, shape: Any = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0) -> Any:  # noqa: ARG001
    """Draw uniforms; the same key draws the same ones, in calls of one shape.

    >>> bool((uniform((1,), (2,)) == uniform((1,), (2,))).all())
    True
    """
    found = _generator(key, shape).random(shape)
    return found if (minval, maxval) == (0.0, 1.0) else minval + (maxval - minval) * found


def _generator(key: Key, shape: Any) -> Any:
    """A key's generator. What calls of two shapes share depends on the version of jax: explore refuses them."""
    certain = [1.0] + [0.0] * int(np.prod(shape))
    np.random.default_rng(_longer(key, _SHAPES)).multinomial(1, certain)
    return np.random.default_rng(key)


def _longer(key: Key, place: int) -> Key:
    return key.longer(place) if isinstance(key, GivenKey) else (*key, place)


_SHAPES = 1 << 31
"""No key is split into so many."""


def exponential(key: Key, shape: Any = (), dtype: Any = float) -> Any:  # noqa: ARG001
    """Draw exponentials of rate 1.

    >>> exponential((1,), (2,)).shape
    (2,)
    """
    return _generator(key, shape).exponential(size=shape)


def segment_min(data: Any, segment_ids: Any, num_segments: int, *, indices_are_sorted: bool = False) -> Any:  # noqa: ARG001
    """Return the least whole number of each segment; the largest for one that is empty. Others' segments are left out.

    That the segments come in order is a promise of the caller's, which changes no answer.

    Raises:
        TypeError: the data are not whole numbers.

    >>> segment_min(np.array([3, 1, 2]), np.array([0, 0, 2]), 3).tolist()
    [1, 2147483647, 2]
    """
    data, ids = np.asarray(data), np.asarray(segment_ids)
    if data.dtype.kind not in "iub":
        raise TypeError(f"segment_min stands in for whole numbers alone; these are {data.dtype}")
    found = np.full(num_segments, np.iinfo(np.int32).max, dtype=np.int64)
    there = (ids >= 0) & (ids < num_segments)
    np.minimum.at(found, ids[there], data[there].astype(np.int64))
    return found


def repeat(values: Any, repeats: Any, axis: int | None = None, total_repeat_length: int | None = None) -> Any:
    """Repeat entries along an axis, or of a flat list; cut, or filled with the last one, to a length.

    >>> repeat(np.array([7, 8]), np.array([2, 1]), total_repeat_length=3).tolist()
    [7, 7, 8]
    """
    found = np.repeat(values, repeats, axis)
    if total_repeat_length is None or len(found) == total_repeat_length:
        return found
    if found.ndim > 1:
        raise NotImplementedError("repeat stands in for lists where a length is asked for")
    return np.pad(found, (0, max(0, total_repeat_length - len(found))), mode="edge")[:total_repeat_length]


def one_hot(tokens: Any, size: int, dtype: Any = np.float32) -> Any:
    """Return one-hot rows; an index outside of them has a row of zeros.

    >>> one_hot(np.array([1, -1]), 2, bool).tolist()
    [[False, True], [False, False]]
    """
    return (np.asarray(tokens)[..., None] == np.arange(size)).astype(dtype)


def softmax(values: Any, axis: int = -1) -> Any:
    """Return the softmax along an axis.

    >>> softmax(np.zeros(2)).tolist()
    [0.5, 0.5]
    """
    shifted = np.exp(values - np.max(values, axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def categorical(key: Key, logits: Any, axis: int = -1) -> Any:
    """Draw the places of tokens with logits, along an axis.

    >>> int(categorical((0,), np.log([1e-300, 1.0])))
    1
    """
    return np.argmax(logits + _generator(key, logits.shape).gumbel(size=logits.shape), axis)


def cond(which: Any, yes: Callable[..., Any], no: Callable[..., Any], *given: Any) -> Any:
    """Call the first function where a condition holds, else the second.

    >>> cond(np.array(0.5) > 0, abs, len, -2)
    2
    """
    return (yes if which else no)(*given)


def scan(step: Callable[..., Any], carry: Any, rows: Sequence[Any]) -> Any:
    """Call a function on a carry and the entries of some arrays, one after the other.

    >>> scan(lambda total, row: (total + row[0], total), 0, [np.array([1, 2])])[0].item()
    3
    """
    found: list[Any] = []
    for place in range(len(rows[0])):
        carry, one = step(carry, tuple(row[place, ...] for row in rows))
        found.append(one)
    return carry, np.stack(found)


def log_softmax(values: Any, axis: int = -1) -> Any:
    """Return the logarithm of the softmax along an axis.

    >>> log_softmax(np.zeros(1)).tolist()
    [0.0]
    """
    return np.log(softmax(values, axis))


def jit(fn: Callable[..., Any] | None = None, **_: Any) -> Any:
    """Return a function as it is, or a decorator that does.

    >>> jit(abs) is abs, jit(static_argnums=0)(abs) is abs
    (True, True)
    """
    return fn if fn is not None else jit


PARTS: dict[str, dict[str, Any]] = {
    "random": {"split": split, "uniform": uniform, "exponential": exponential, "categorical": categorical}
    | {"PRNGKey": tuple, "key": tuple},
    "nn": {"one_hot": one_hot, "softmax": softmax, "log_softmax": log_softmax},
    "ops": {"segment_min": segment_min},
}
GIVEN: dict[str, dict[str, Any]] = {
    "jax": {name: SimpleNamespace(**names) for name, names in PARTS.items()}
    | {"numpy": SimpleNamespace(**vars(np) | {"repeat": repeat}), "jit": jit, "Array": np.ndarray},
    "jax.numpy": {"ndarray": np.ndarray},
    **{f"jax.{name}": names for name, names in PARTS.items()},
}
"""Stand-ins for the modules of jax while a file is loaded."""


class SeedGenerator:
    """The seed of keras.random: one generator, which goes on from draw to draw.

    >>> SeedGenerator().uniform((2,)).shape
    (2,)
    """

    def __init__(self, seed: int | None = None) -> None:
        self.uniform = np.random.default_rng(seed).random


def slice_update(values: Any, start: Sequence[int], update: Any) -> Any:
    """Return a copy of an array with a block replaced.

    >>> slice_update(np.zeros((1, 3)), [0, 1], np.ones((1, 2))).tolist()
    [[0.0, 1.0, 1.0]]
    """
    found = np.array(values)
    found[tuple(slice(at, at + size) for at, size in zip(start, update.shape, strict=True))] = update
    return found


def _once(cond: Any, body: Callable[..., Any], loop_vars: Any, maximum_iterations: Any) -> Any:  # noqa: ARG001
    return body(*loop_vars)


def _uniform(shape: Any, seed: SeedGenerator, dtype: str) -> Any:  # noqa: ARG001
    return seed.uniform(shape)


OPS_OF_KERAS = {"softmax": softmax, "cast": np.asarray, "slice_update": slice_update, "while_loop": _once}
OF_KERAS: dict[str, Any] = {
    "ops": SimpleNamespace(**vars(np) | OPS_OF_KERAS),
    "random": SimpleNamespace(SeedGenerator=SeedGenerator, uniform=_uniform),
    "config": SimpleNamespace(backend=str),
    "activations": SimpleNamespace(softmax=softmax),
}
"""Stand-ins for keras while a file is loaded; a loop goes round once."""


def rearrange(tensor: Any, pattern: str) -> Any:
    """Return a tensor with its named axes in another order, and axes of length one added or taken away.

    Raises:
        NotImplementedError: the pattern joins or divides axes.

    >>> import torch
    >>> rearrange(torch.zeros(2, 1, 3), "b 1 d -> b d").shape, rearrange(torch.zeros(2), "... -> ... 1").shape
    (torch.Size([2, 3]), torch.Size([2, 1]))
    """
    if "(" in pattern:
        raise NotImplementedError(f"axes are joined or divided in {pattern!r}; install einops")
    before, after = (side.split() for side in pattern.split("->"))
    left = tensor.dim() - sum(axis != "..." for axis in before)
    rest = [f"_{place}" for place in range(left)]
    before, after = (_spread(side, rest) for side in (before, after))
    named = [axis for axis in before if axis != "1"]
    plain: Any = tensor.reshape([size for size, axis in zip(tensor.shape, before, strict=True) if axis != "1"])
    plain = plain.permute([named.index(axis) for axis in after if axis != "1"])
    for place, axis in enumerate(after):
        if axis == "1":
            plain = plain.unsqueeze(place)
    return plain


def _spread(axes: list[str], rest: list[str]) -> list[str]:
    return [one for axis in axes for one in (rest if axis == "..." else [axis])]


PINNING = ("tensor", "ones", "zeros", "full", "empty", "arange")


class Unpinned:
    """The module torch, whose functions that make tensors do not heed pin_memory: it needs an accelerator.

    >>> Unpinned().ones(1, pin_memory=True).tolist()
    [1.0]
    """

    def __getattr__(self, name: str) -> Any:
        import torch

        plain = getattr(torch, name)
        if name not in PINNING:
            return plain

        def made(*args: Any, pin_memory: bool = False, **named: Any) -> Any:  # noqa: ARG001
            return plain(*args, **named)

        return made


def uniform_probs(many: int, *_: Any) -> Any:
    """Draw the uniforms of a batch without seeds, as vLLM does: in float64.

    >>> uniform_probs(3, [3], {}, "cpu").dtype
    torch.float64
    """
    import torch

    return torch.rand((many,), dtype=torch.float64)


VLLM = {"GREEDY_TEMPERATURE": 0, "MAX_SPEC_LEN": 128, "PLACEHOLDER_TOKEN_ID": -1}


def given(packages: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return, by module, the names that stand in for packages and compute what those would: jax, einops, parts of vllm.

    >>> sorted(given(["einops", "triton"]))
    ['einops']
    """
    found: dict[str, Mapping[str, Any]] = {}
    if "jax" in packages:
        found |= GIVEN
    if "einops" in packages:
        found["einops"] = {"rearrange": rearrange}
    if "vllm" in packages:
        found["vllm.triton_utils"] = {"HAS_TRITON": False}
        found["vllm.v1.sample.rejection_sampler"] = {**VLLM, "generate_uniform_probs": uniform_probs}
    return found
