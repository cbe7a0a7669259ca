"""torch's randomness as questions to a tape: every call of torch is a draw, a use of random numbers, or passed on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import log2
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from spec_math.pathwise import exploration
from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.compiled import seeds_noted
from spec_math.pathwise.entropy import noting
from spec_math.pathwise.exploration import Explored, Partial
from spec_math.pathwise.followed import SOURCES
from spec_math.pathwise.places import everywhere, held, patched, standing_in
from spec_math.pathwise.tape import Tape
from torch_bridge.randomness.draws import DRAWS, Draws, state_of
from torch_bridge.randomness.tags import Tags, tensors_in
from torch_bridge.randomness.tokens import Later
from torch_bridge.randomness.uses import COMPARING, COMPUTING, GUARDING, MOVING, RANKING, Uses, moved

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
    """Follow torch's randomness onto a tape while the block lasts, on the CPU and by any torch.Generator."""
    tape.following.add(id(torch.default_generator))
    mode, threads = _Following(tape), torch.get_num_threads()
    torch.set_num_threads(1)  # on tensors this small, threads that wait for each other cost a hundred times the work
    try:
        with mode, unseen_noted(tape, mode.draws):
            yield
    finally:
        mode.draws.restore()
        torch.set_num_threads(threads)


class OnCpu(TorchFunctionMode):
    """Code that asks for CUDA runs on the CPU while this lasts, where there is no such device: it would raise else.

    >>> with OnCpu():
    ...     torch.zeros(1, device="cuda").to("cuda:0").cuda().shape
    torch.Size([1])
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        func, args, kwargs = _on_cpu(func, args, kwargs or {})
        return func(*args, **kwargs)


_NO_CUDA = not torch.cuda.is_available()


def _on_cpu(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    """Return a call of torch with the CPU in place of CUDA, if that is absent."""

    def moved(value: Any) -> Any:
        return "cpu" if isinstance(value, str | torch.device) and str(value).startswith("cuda") else value

    if not _NO_CUDA or not (
        func is torch.Tensor.cuda or any(moved(one) is not one for one in (*args, *kwargs.values()))
    ):
        return func, args, kwargs
    func, args = (torch.Tensor.cpu, args[:1]) if func is torch.Tensor.cuda else (func, args)
    return func, tuple(map(moved, args)), {name: moved(one) for name, one in kwargs.items()}


class _Following(TorchFunctionMode):
    """Every call of torch passes here: draws become random numbers of the tape, and their uses forks of it."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        super().__init__()
        self._tags, self.later = Tags(), Later()
        self.draws, self._uses = Draws(tape, self._tags, self.later), Uses(self._tags, self.later)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        func, args, kwargs = _on_cpu(func, args, kwargs or {})
        if type(func) in _BUILT_IN and func in _ASKING:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        answered = self.later.answers.followed(func, name, args, kwargs)
        if answered is not None:
            return answered
        self.later.seen(name, args, kwargs)
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
            self._tape.digits |= _rounded_away(*args[:2])
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


_GENERATOR: Any = torch.Generator
_C: Any = torch._C  # pyright: ignore[reportPrivateUsage]
_DISABLING: Any = _C.DisableTorchFunction
_SCRIPTED: tuple[Any, ...] = (torch.jit.ScriptFunction, _C.ScriptMethod)


@contextmanager
def unseen_noted(tape: Tape, draws: Draws) -> Generator[None]:
    """Note on the tape what torch draws behind the back of its function modes, while the block lasts.

    A scripted function that is given its uniforms draws nothing, and is called as it is.
    """
    tape.torch = draws
    with tape.standing("torch", lambda: _standing(tape)), seeds_noted(tape, _GENERATOR):
        yield


@contextmanager
def _standing(tape: Tape) -> Generator[None]:
    methods: list[Any] = [(kind, {"__call__": _compared(tape, kind.__call__)}) for kind in _SCRIPTED]
    functions = {name: noting(tape, f"torch.{name}", getattr(torch, name)) for name in ("seed", "initial_seed")}
    seeding = {name: _leaving(tape, getattr(torch, name)) for name in _SEEDING}
    plain = [getattr(torch, name) for name in _SEEDING]
    own = vars(torch), vars(_C), globals()
    seeing = {_DISABLING.__name__: _refusing(tape)}
    bound = everywhere("torch seeds", lambda value: any(value is one for one in (*plain, _DISABLING)))
    there = [place for place in bound if all(place[0] is not one for one in own)]
    values = [(seeding | seeing)[held(place).__name__] for place in there]
    with patched([*methods, (torch, functions | seeding), (_C, seeing)]), standing_in(there, values):
        yield


_SEEDING = ("manual_seed", "set_rng_state", "get_rng_state")


def _refusing(tape: Tape) -> Any:
    """A gap by which torch's calls pass unseen: random numbers in tensors would be read as they stand there."""

    def disabling() -> Any:
        if tape.foreign():
            return _DISABLING()
        raise ExploreError("explore does not follow code under torch._C.DisableTorchFunction(), where no call is seen")

    return disabling


def _leaving(tape: Tape, plain: Any) -> Any:
    """A function that seeds torch's default generator, or reads or sets its state: nothing has been drawn from it."""

    def seeding(*args: Any, **kwargs: Any) -> Any:
        if plain.__name__ == "manual_seed":
            tape.seeded(next(iter((*args, *kwargs.values())), None))
        before = state_of(torch.default_generator)
        with tape.torch.passing():
            found = plain(*args, **kwargs)
        if plain.__name__ == "get_rng_state":
            tape.seeded.read(before)
        elif plain.__name__ == "set_rng_state":
            tape.seeded.restored(before, lambda: state_of(torch.default_generator))
        return found

    seeding.__name__ = plain.__name__
    return seeding


def _rounded_away(left: Any, right: Any) -> set[int]:
    """Return the digits of the type that a comparison rounds an operand to, or none where it rounds none.

    A float64 mass without dimensions is compared with a float32 random number of one dimension in float32: it may
    become 1, and then the number that is met does not show it.
    """
    dtype = torch.result_type(left, right)
    if not dtype.is_floating_point:
        return set()
    sides = [torch.as_tensor(x, dtype=None if isinstance(x, torch.Tensor) else torch.float64) for x in (left, right)]
    rounds = any(bool((side.to(dtype).to(side.dtype) != side).any()) for side in sides if side.dtype != dtype)
    return {1 - round(log2(torch.finfo(dtype).eps))} if rounds else set()


def _compared(tape: Tape, plain: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = tape.torch.looked_at((args, kwargs))
        before = torch.default_generator.get_state()
        result = plain(self, *args, **kwargs)
        given = any(isinstance(value, _GENERATOR) for value in (*args, *kwargs.values()))
        if given or not torch.equal(before, torch.default_generator.get_state()):
            tape.note(f"the scripted {getattr(self, 'name', 'function')}, which draws by itself; hand it uniforms")
        return result

    return call


def explore(fn: Callable[[], Any], budget: int = 100_000, grid: int | None = None) -> Explored | Partial:
    """Compute the exact law of what a function returns, over torch's randomness, Python's and NumPy's.

    The law: {outcome: probability}. torch.rand, rand_like, randint, randperm, bernoulli, multinomial, gumbel_softmax
    (hard) and Tensor.uniform_ and exponential_ are followed, with a generator or without; comparisons and searchsorted
    fork, argmin, argmax, topk and sort of exponential or Gumbel noise race. On the CPU, in float64, float32, float16 or
    bfloat16. Masses are floats, as torch's numbers are. Generators are left as they were.

    Args:
        fn: a function of its draws alone, whose outcome is hashable: `.tolist()` or `.item()` of tensors of tokens.
        budget: the most paths to walk; where there are more, the result is a `Partial`.
        grid: None for ideal uniforms; b for uniforms k/2^b; `OWN_GRID` for each type's own, k/2^24 in float32 and as
            `random_draws.uniform_value` says in half precision. The code's arithmetic on a uniform is then done in its
            own type, rounding and all. Noise to race is ideal.

    Raises:
        ExploreError: as `spec_math.audit.explore`; a function of torch that is not known meets a random number.

    >>> import torch
    >>> explore(lambda: bool(torch.rand(1) < torch.tensor([0.25])))
    {True: 0.25, False: 0.75}
    """
    return exploration.explore(fn, budget, grid, (*SOURCES, torch_source))
