"""Torch's draws, as questions to a tape: a call moves its generator on as torch does, and asks for its numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.clock import Clock, exponential, ring
from spec_math.pathwise.races import Race, race
from spec_math.pathwise.tape import OTHERWISE, Stretch, Tape
from spec_math.pathwise.uniform import uniform
from torch_bridge.randomness.tags import Tags, mapped
from torch_bridge.randomness.tokens import Later

BITS = {torch.float64: 53, torch.float32: 24, torch.float16: 24, torch.bfloat16: 24}
"""torch.rand of a type starts from k/2^bits; in half precision that is then rounded, see `uniform_value`."""

_SIGNIFICANT = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}

_GET: Any = torch.Generator.get_state
_SET: Any = torch.Generator.set_state
"""The methods themselves: those of what stands for the class in a run note who reads a state, and who sets one."""

MOST = 1000
"""The most values that a whole number is drawn from."""


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


class Draws:
    """torch's draws of one run, and the states of the generators that they came from, to be put back after it."""

    def __init__(self, tape: Tape, tags: Tags, later: Later | None = None) -> None:
        self._tape, self._tags, self._later = tape, tags, later or Later()
        self._left = torch.default_generator.get_state()
        self._states: dict[torch.Generator, torch.Tensor] = {torch.default_generator: self._left}
        self._drawn: tuple[torch.Generator, Stretch] | None = None

    @property
    def moved(self) -> bool:
        """True if torch's default generator has been drawn from since it was left."""
        return not torch.equal(torch.default_generator.get_state(), self._left)

    def arrive(self) -> None:
        """Note draws from torch's default generator that did not pass here."""
        if self.moved:
            self._tape.note("torch's default generator, drawn from behind explore's back")

    def leave(self) -> None:
        """Keep the state that a followed draw, or a seed, has left torch's default generator in."""
        self._left = torch.default_generator.get_state()

    @contextmanager
    def passing(self) -> Generator[None]:
        """Let a call of torch that is followed draw while the block lasts."""
        self.arrive()
        try:
            yield
        finally:
            self.leave()
            if self._drawn is not None:
                generator, stretch = self._drawn
                stretch.leads_to(state_of(generator), stretch.used)
                self._drawn = None

    def restore(self) -> None:
        """Leave every generator as it was before the run."""
        self.arrive()
        for generator, state in self._states.items():
            _SET(generator, state)

    def looked_at(self, values: Any) -> Any:
        """Return arguments of code that is not followed with all tokens in them drawn."""
        return mapped(values, self._later.looked_at)

    def uniforms(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """torch.rand, rand_like."""
        place, drawn = self._drawing(func, args, kwargs)
        return self._tags.put(drawn, [self._uniform(place, index, drawn) for index in range(drawn.numel())])

    def uniform_in_place(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """Tensor.uniform_."""
        tensor: torch.Tensor = args[0]
        low, high = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
        low, high = kwargs.get("from", low), kwargs.get("to", high)
        place, _ = self._drawing(func, args, kwargs)
        numbers = [self._uniform(place, index, tensor) for index in range(tensor.numel())]
        if (low, high) != (0, 1):
            numbers = [number * (high - low) + low for number in numbers]
        return tensor.copy_(self._tags.put(tensor, numbers))

    def exponentials_in_place(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """Tensor.exponential_."""
        tensor, rate = args[0], kwargs.get("lambd", args[1] if len(args) > 1 else 1)
        place, _ = self._drawing(func, args, kwargs)
        kind = f"an exponential of {_laid_out(tensor)}"
        clocks = [exponential(self._clock(place, index, kind).atom) for index in range(tensor.numel())]
        return tensor.copy_(self._tags.put(tensor, clocks if rate == 1 else [clock / rate for clock in clocks]))

    def multinomials(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """torch.multinomial, as torch does it: a race of exponentials, so that a generator seeded anew shares noise."""
        weights = kwargs.get("input", args[0] if args else None)
        if weights is None or self._tags.any_in(weights):
            raise ExploreError("explore does not follow multinomial of random weights")
        place, drawn = self._drawing(func, args, kwargs)
        replaced = bool(kwargs.get("replacement", args[2] if len(args) > 2 else False))
        rows = weights.detach().double().reshape(-1, weights.shape[-1]).tolist()
        size, laws = int(drawn.shape[-1]), [[Fraction(mass) for mass in masses] for masses in rows]
        for mass in {mass for law in laws for mass in law}:
            self._tape.meet(mass)
        if size == 1 and drawn.dtype == torch.int64:
            # The noise is drawn now, and raced when somebody looks at the token.
            noise = [self._noise((place, row), len(law), weights) for row, law in enumerate(laws)]
            self._tape.tokens += [[clock.atom for clock in row] for row in noise]
            draws = [Race(lambda pair=pair: _rung(*pair)) for pair in zip(noise, laws, strict=True)]
            if self._tape.ordinary is None:
                return self._later.put(draws, drawn.dtype).reshape(drawn.shape)
            # Nothing is left for later among ordinary numbers, so that a token that got out unseen shows here.
            return torch.tensor([self._plainly(one) for one in draws], dtype=drawn.dtype).reshape(drawn.shape)
        noisy = None if replaced and size > 1 else weights
        tokens = [self._tokens((place, row), law, size, noisy) for row, law in enumerate(laws)]
        return torch.tensor(tokens, dtype=drawn.dtype).reshape(drawn.shape)

    def integers(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """torch.randint, randint(high, size) or randint(low, high, size)."""
        bounds = [one for one in args if isinstance(one, int)]
        bounds = [*bounds, *(kwargs[name] for name in ("low", "high") if name in kwargs)]
        low, high = (0, *bounds)[-2:] if bounds else (0, None)
        if high is None or high - low > MOST:
            raise ExploreError(f"explore follows randint between bounds that are at most {MOST} apart")
        place, drawn = self._drawing(func, args, kwargs)
        values = [low + self._tape.below((place, index), high - low) for index in range(drawn.numel())]
        return torch.tensor(values, dtype=drawn.dtype).reshape(drawn.shape)

    def permutation(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """torch.randperm."""
        place, drawn = self._drawing(func, args, kwargs)
        left = list(range(drawn.numel()))
        laws = [[Fraction(1, size)] * size for size in range(len(left), 0, -1)]
        once = self._tape.once
        order = [left.pop(once((place, turn), f"one of {len(law)}", law)) for turn, law in enumerate(laws)]
        return torch.tensor(order, dtype=drawn.dtype)

    def flips(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """torch.bernoulli of a tensor of chances, and Tensor.bernoulli_."""
        tensor: torch.Tensor = kwargs.get("input", args[0] if args else None)
        in_place = func.__name__.endswith("_")
        chances = kwargs.get("p", args[1] if len(args) > 1 else 0.5 if in_place else tensor)
        if isinstance(chances, torch.Tensor) and self._tags.any_in(chances):
            raise ExploreError("explore does not follow bernoulli of random chances")
        place, drawn = self._drawing(func, args, kwargs)
        self._tape.exact = False
        listed = torch.as_tensor(chances, dtype=torch.float64).expand(drawn.shape).reshape(-1).tolist()
        way = f"{func.__name__} of {_laid_out(drawn)}"
        way += f" by chances of {_laid_out(chances)}" if isinstance(chances, torch.Tensor) else ""
        values: list[int] = []
        for index, chance in enumerate(map(Fraction, listed)):
            if not 0 <= chance <= 1:
                raise ValueError(f"bernoulli needs chances in [0, 1]; got {float(chance)}")
            self._tape.meet(chance)
            values.append(self._tape.once((place, index), f"a flip of {chance}, {way}", [1 - chance, chance]))
        result = torch.tensor(values, dtype=torch.bool).to(drawn.dtype).reshape(drawn.shape)
        return tensor.copy_(result) if in_place else result

    def gumbel_softmax(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        """torch.nn.functional.gumbel_softmax(hard=True): a race of exponentials, shown as one-hot rows."""
        named = dict(zip(("logits", "tau", "hard", "eps", "dim"), args, strict=False)) | kwargs
        logits: torch.Tensor = named["logits"]
        if not named.get("hard", False) or self._tags.any_in(logits):
            raise ExploreError("explore follows gumbel_softmax(hard=True) of ordinary logits: a draw of one token")
        place, drawn = self._drawing(func, args, kwargs)
        dim = int(named.get("dim", -1))
        rows = logits.detach().movedim(dim, -1)
        kind, width = f"gumbel_softmax of {_laid_out(logits)} along {dim}", rows.shape[-1]
        clocks = (self._clock(place, index, kind).log() for index in range(rows.numel()))
        noisy = ([logit - next(clocks) for logit in row] for row in rows.double().reshape(-1, width).tolist())
        winners = [race(row, smallest=False) for row in noisy]
        hot = torch.nn.functional.one_hot(torch.tensor(winners), width).to(drawn.dtype)
        return hot.reshape(rows.shape).movedim(-1, dim)

    def _drawing(self, func: Any, args: Any, kwargs: Any) -> tuple[Stretch, torch.Tensor]:
        """Let torch draw: name the state that the numbers come from, and return what it drew, whose numbers are not."""
        generator = kwargs.get("generator") or torch.default_generator
        _check_cpu(generator)
        self._states.setdefault(generator, _GET(generator))
        stretch = self._tape.stretch(state_of(generator))
        self._drawn = generator, stretch
        drawn = func(*args, **kwargs)
        _check_cpu(drawn)
        return stretch, drawn

    def _uniform(self, place: Stretch, index: int, like: torch.Tensor) -> Any:
        dtype = like.dtype
        kind = f"a uniform of {BITS[dtype]} bits{_order(like)}"
        atom = self._tape.atom((place, index), BITS[dtype], "torch uniform", kind)
        return uniform(atom, lambda k: uniform_value(k, atom.bits or 0, dtype))

    def _clock(self, place: Stretch, index: int, kind: str) -> Clock:
        return Clock(self._tape.atom((place, index), 53, "torch exponential", kind))

    def _noise(self, place: tuple[Stretch, int], size: int, weights: torch.Tensor) -> list[Clock]:
        """Return the noise of a row of multinomial, which torch draws by exponential_ of a tensor like the weights."""
        state, row = place
        kind = f"an exponential of {_laid_out(weights)}"
        return [self._clock(state, row * size + token, kind) for token in range(size)]

    def _plainly(self, draw: Race) -> int:
        """Return the token that ordinary numbers draw; where nobody has asked which it is, any that may win will do."""
        clocks, numbers = draw.entered(), self._tape.ordinary or {}
        if any(clock.atom not in numbers for clock in clocks):
            raise ExploreError(OTHERWISE)
        found, left = [numbers[clock.atom] for clock in clocks], draw.may_win()
        if not any(clock.atom.races for clock in clocks):
            return left[int(sum(found) * (1 << 20)) % len(left)]
        return min(left, key=lambda token: ring(clocks[token].atom, found[token]) / float(clocks[token].rate))

    def _tokens(
        self, place: tuple[Stretch, int], masses: list[Fraction], size: int, weights: torch.Tensor | None
    ) -> list[int]:
        """Return several tokens of a row: a race among those left, or with replacement where no weights are given."""
        state, row = place
        if weights is None:
            total = sum(masses)
            law = [mass / total for mass in masses]
            kind = f"multinomial with replacement, of {size} by {', '.join(map(str, law))}"
            return [self._tape.once((state, row * size + turn), kind, law) for turn in range(size)]
        clocks = self._noise(place, len(masses), weights)
        tokens: list[int] = []
        for _ in range(size):
            rates = [mass if token not in tokens else Fraction(0) for token, mass in enumerate(masses)]
            tokens.append(race(_rung(clocks, rates), smallest=True))
        return tokens


def _rung(clocks: list[Clock], rates: list[Fraction]) -> list[Clock]:
    return [clock / rate for clock, rate in zip(clocks, rates, strict=True)]


def _laid_out(tensor: torch.Tensor) -> str:
    """Name the type of a tensor's numbers, and their order."""
    return f"{tensor.dtype}{_order(tensor)}"


def _order(tensor: torch.Tensor) -> str:
    """Name the order of a tensor's numbers in memory, along which torch draws them, where it is not the usual one."""
    return "" if tensor.is_contiguous() else f" by strides {tensor.stride()}"


def state_of(generator: torch.Generator) -> tuple[str, bytes]:
    """Name the state of a generator of torch."""
    return "torch", hashlib.blake2b(_GET(generator).numpy().tobytes(), digest_size=16).digest()


DRAWS: dict[str, Callable[[Draws, Any, Any, Any], torch.Tensor]] = {
    "rand": Draws.uniforms,
    "rand_like": Draws.uniforms,
    "uniform_": Draws.uniform_in_place,
    "exponential_": Draws.exponentials_in_place,
    "multinomial": Draws.multinomials,
    "randint": Draws.integers,
    "randperm": Draws.permutation,
    "bernoulli": Draws.flips,
    "bernoulli_": Draws.flips,
    "gumbel_softmax": Draws.gumbel_softmax,
}
"""The functions of torch that draw and are followed, by name."""


def _check_cpu(one: Any) -> None:
    if one.device.type != "cpu":
        raise ExploreError("explore follows torch on the CPU; move the sampler's tensors there")
