"""torch's randomness as questions to a tape: rand, multinomial, uniform_, exponential_, and what is done with them."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from spec_math.audit import ExploreError
from spec_math.audit.clock import Clock, race
from spec_math.audit.tape import Tape
from spec_math.audit.uniform import Uniform
from torch_bridge.tagged import Tags, mapped, tensors_in

BITS = {torch.float64: 53, torch.float32: 24, torch.float16: 24, torch.bfloat16: 24}
"""torch.rand of a type starts from k/2^bits; in half precision that is then rounded, see `uniform_value`."""

_SIGNIFICANT = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


def uniform_value(k: int, bits: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the k-th smallest uniform of a type that torch draws on the CPU, with its multiplicity, k < 2^bits.

    The law: j/2^bits rounded to the type, each j as likely, where what rounds up to 1 becomes 0. In half precision this
    leaves 0 with chance 2^-12 (float16) or 2^-9 (bfloat16), more than any other value has. Those j come first here, so
    that the values rise with k.

    >>> uniform_value(0, 24, torch.float16), uniform_value(2**12 + 2**23, 24, torch.float16)
    (tensor(0., dtype=torch.float16), tensor(0.5000, dtype=torch.float16))
    """
    beyond = bits - _SIGNIFICANT[dtype] - 1
    wrapped = 1 << beyond if beyond >= 0 else 0
    return torch.tensor(max(0, k - wrapped) / 2**bits, dtype=torch.float64).to(dtype)


_COMPARING = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def _subtracted_from(a: Any, b: Any) -> Any:
    return b - a


def _divided_into(a: Any, b: Any) -> Any:
    return b / a


def _reciprocal(a: Any) -> Any:
    return 1 / a


def _logarithm(a: Any) -> Any:
    return a.log()


_COMPUTING: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "__rsub__": _subtracted_from,
    "__rdiv__": _divided_into,
    "neg": operator.neg,
    "reciprocal": _reciprocal,
    "log": _logarithm,
}
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
    mode = _Following(tape)
    try:
        with mode:
            yield
    finally:
        mode.restore()


class _Following(TorchFunctionMode):
    """Every call of torch passes here: draws become random numbers of the tape, and their uses forks of it."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self._tape = tape
        self._tags = Tags()
        self._states: dict[torch.Generator, torch.Tensor] = {
            torch.default_generator: torch.default_generator.get_state()
        }

    def restore(self) -> None:
        """Leave every generator as it was before the run."""
        for generator, state in self._states.items():
            generator.set_state(state)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        draw = _DRAWS.get(name)
        if draw is not None:
            return draw(self, func, args, kwargs)
        if self._tags.none or not any(self._tags.any_in(x) for x in tensors_in([args, kwargs])):
            return self._passed(func, name, args, kwargs)
        plain = name.removesuffix("_") if not name.startswith("__") else name
        plain = _ALIASES.get(plain, plain)
        if plain in _COMPUTING:
            return self._computed(func, plain, name, args)
        if plain in _COMPARING:
            return self._compared(plain, args)
        if name in ("argmax", "argmin"):
            return self._raced(name == "argmin", *args, **kwargs)
        if name in _CASTING:
            return self._cast(func, args, kwargs)
        if name in ("item", "tolist", "__float__", "__bool__"):
            return self._shown(name, args[0])
        if name in _MOVING:
            return func(*args, **kwargs)
        raise ExploreError(f"explore does not follow torch's {name} of a random number")

    def _passed(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """Call what draws nothing, and refuse it if it does."""
        before = torch.default_generator.get_state()
        result = func(*args, **kwargs)
        if kwargs.get("generator") is not None or not torch.equal(before, torch.default_generator.get_state()):
            raise ExploreError(f"explore does not follow torch's {name}; it follows {', '.join(sorted(_DRAWS))}")
        return result

    def _drawing(self, kwargs: Any) -> bytes:
        """Name the state that the next numbers come from."""
        generator = kwargs.get("generator") or torch.default_generator
        if generator.device.type != "cpu":
            raise ExploreError("explore follows torch on the CPU; move the sampler's tensors there")
        state = generator.get_state()
        self._states.setdefault(generator, state)
        return hashlib.blake2b(state.numpy().tobytes(), digest_size=16).digest()

    def _uniforms(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        place = self._drawing(kwargs)
        drawn = func(*args, **kwargs)
        _on_the_cpu(drawn)
        return self._tags.put(drawn, [self._uniform(place, index, drawn.dtype) for index in range(drawn.numel())])

    def _uniform(self, place: bytes, index: int, dtype: torch.dtype) -> Uniform:
        atom = self._tape.atom(("torch", place, index), BITS[dtype], "torch uniform")
        return Uniform(atom, lambda k: uniform_value(k, atom.bits or 0, dtype))

    def _uniform_(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        tensor: torch.Tensor = args[0]
        low, high = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
        low, high = kwargs.get("from", low), kwargs.get("to", high)
        place = self._drawing(kwargs)
        func(*args, **kwargs)
        _on_the_cpu(tensor)
        numbers = [self._uniform(place, index, tensor.dtype) for index in range(tensor.numel())]
        if (low, high) != (0, 1):
            numbers = [number * (high - low) + low for number in numbers]
        return tensor.copy_(self._tags.put(tensor, numbers))

    def _exponential_(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        tensor, rate = args[0], kwargs.get("lambd", args[1] if len(args) > 1 else 1)
        place = self._drawing(kwargs)
        func(*args, **kwargs)
        _on_the_cpu(tensor)
        clocks = [self._clock(place, index) for index in range(tensor.numel())]
        return tensor.copy_(self._tags.put(tensor, clocks if rate == 1 else [clock / rate for clock in clocks]))

    def _clock(self, place: bytes, index: int) -> Clock:
        return Clock(self._tape.atom(("torch", place, index), 53, "torch exponential"))

    def _multinomial(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """Draw as torch does: one token by a race of exponentials, so that a generator seeded anew shares its noise."""
        weights = kwargs.get("input", args[0] if args else None)
        if weights is None or self._tags.any_in(weights):
            raise ExploreError("explore does not follow multinomial of random weights")
        place = self._drawing(kwargs)
        drawn = func(*args, **kwargs)
        _on_the_cpu(drawn)
        self._tape.exact = False
        rows = weights.detach().double().reshape(-1, weights.shape[-1]).tolist()
        tokens = [
            self._drawn((place, row), [Fraction(mass) for mass in masses], drawn.shape[-1], kwargs, args)
            for row, masses in enumerate(rows)
        ]
        return torch.tensor(tokens, dtype=drawn.dtype).reshape(drawn.shape)

    def _drawn(self, place: Any, masses: list[Fraction], size: int, kwargs: Any, args: Any) -> list[int]:
        state, row = place
        replacement = bool(kwargs.get("replacement", args[2] if len(args) > 2 else False))
        if size > 1 and replacement:
            total = sum(masses)
            law = [mass / total for mass in masses]
            kind = f"a multinomial of {len(law)} tokens"
            return [
                self._tape.once(("torch", state, row, turn), kind, lambda: self._tape.draw(kind, law))
                for turn in range(size)
            ]
        clocks = [self._clock(state, row * len(masses) + token) for token in range(len(masses))]
        tokens: list[int] = []
        for _ in range(size):
            rates = [mass if token not in tokens else Fraction(0) for token, mass in enumerate(masses)]
            tokens.append(race([clock / rate for clock, rate in zip(clocks, rates, strict=True)], smallest=True))
        return tokens

    def _computed(self, func: Any, plain: str, name: str, args: Any) -> Any:
        numbers = [x for x in args if isinstance(x, torch.Tensor)]
        safe = mapped(args, self._tags.without)
        in_place = name.endswith("_") and not name.endswith("__")
        base = getattr(torch.Tensor, name.removesuffix("_"))(*safe) if in_place else func(*safe)
        spread = [x.expand(base.shape) if isinstance(x, torch.Tensor) else x for x in args]
        columns = [self._tags.entries(x) if isinstance(x, torch.Tensor) else [x] * base.numel() for x in spread]
        entries: list[Any] = [None] * base.numel()
        for place, row in enumerate(zip(*columns, strict=True)):
            if any(isinstance(one, Uniform | Clock) for one in row):
                entries[place] = _plain(_COMPUTING[plain](*(_in_type(one, base.dtype) for one in row)))
        result = self._tags.put(base, entries)
        return numbers[0].copy_(result) if in_place else result

    def _compared(self, plain: str, args: Any) -> torch.Tensor:
        left, right = args[0], args[1]
        dtype = torch.result_type(left, right)
        shape = np.broadcast_shapes(*(x.shape if isinstance(x, torch.Tensor) else () for x in (left, right)))
        size = int(np.prod(shape))
        sides = [
            self._tags.entries(x.expand(shape)) if isinstance(x, torch.Tensor) else [torch.tensor(x)] * size
            for x in (left, right)
        ]
        relation = _COMPARING[plain]
        answers = [bool(relation(_in_type(a, dtype), _in_type(b, dtype))) for a, b in zip(*sides, strict=True)]
        return torch.tensor(answers, dtype=torch.bool).reshape(shape)

    def _raced(
        self, smallest: bool, tensor: torch.Tensor, dim: int | None = None, keepdim: bool = False
    ) -> torch.Tensor:
        rows = tensor.reshape(1, -1) if dim is None else tensor.movedim(dim, -1)
        winners = [
            race([_plain(entry) for entry in self._tags.entries(row)], smallest)
            for row in rows.reshape(-1, rows.shape[-1])
        ]
        result = torch.tensor(winners).reshape(rows.shape[:-1] if dim is not None else ())
        return result.unsqueeze(dim) if keepdim and dim is not None else result

    def _cast(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        base = func(self._tags.without(args[0]), *args[1:], **kwargs)
        dtype = base.dtype
        if dtype == args[0].dtype:
            return func(*args, **kwargs)
        entries = self._tags.entries(args[0])
        return self._tags.put(base, [_rounded(one, dtype) if isinstance(one, Uniform) else one for one in entries])

    def _shown(self, name: str, tensor: torch.Tensor) -> Any:
        entries = [_plain(entry) for entry in self._tags.entries(tensor)]
        if name == "tolist" and tensor.dim() == 1:
            return entries
        if name == "item" and len(entries) == 1:
            return entries[0]
        raise ExploreError(f"explore does not follow {name} of a tensor of random numbers; compare it instead")


def _in_type(entry: Any, dtype: torch.dtype) -> Any:
    """Return an ordinary entry in the type that torch computes in."""
    if isinstance(entry, torch.Tensor):
        return entry.to(dtype)
    if isinstance(entry, Uniform):
        return _rounded(entry, dtype)
    return entry


def _rounded(number: Uniform, dtype: torch.dtype) -> Uniform:
    """Return a uniform cast to a type: on the ideal coin itself, on a grid rounded."""
    result = Uniform(number.atom, number.number)
    result.scale, result.shift = number.scale, number.shift
    result.steps = (*number.steps, lambda x: torch.as_tensor(x).to(dtype))
    return result


def _plain(entry: Any) -> Any:
    return entry.item() if isinstance(entry, torch.Tensor) else entry


def _on_the_cpu(tensor: torch.Tensor) -> None:
    if tensor.device.type != "cpu":
        raise ExploreError("explore follows torch on the CPU; move the sampler's tensors there")


_DRAWS: dict[str, Callable[[_Following, Any, Any, Any], torch.Tensor]] = {
    "rand": _Following._uniforms,  # pyright: ignore[reportPrivateUsage]
    "rand_like": _Following._uniforms,  # pyright: ignore[reportPrivateUsage]
    "uniform_": _Following._uniform_,  # pyright: ignore[reportPrivateUsage]
    "exponential_": _Following._exponential_,  # pyright: ignore[reportPrivateUsage]
    "multinomial": _Following._multinomial,  # pyright: ignore[reportPrivateUsage]
}
