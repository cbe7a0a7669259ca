"""A sampler under audit: a function, how it is called, and the numbers that it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.pathwise.followed import SOURCES, Source
from spec_math.pathwise.tape import OWN_GRID
from spec_math.samplers.call import Call, Shape, call_of
from spec_math.samplers.signature import bound, by_default, is_method, own_attributes
from spec_math.samplers.words import whole

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Numbers:
    """The numbers that a function is given: `rows` makes its laws, `tokens` its drafts; `unit` is their roundoff.

    `finer` are the same numbers in float64, where there is a difference: what rounding leaves open is asked there.
    """

    name: str
    rows: Callable[[Any], Any]
    tokens: Callable[[tuple[int, ...]], Any]
    unit: float
    finer: Numbers | None = None


def in_float64(rows: Any) -> Any:
    """Return exact rows as an array in float64."""
    return np.array(rows, dtype=object).astype(np.float64)


def _floats(name: str) -> Numbers:
    kind = np.dtype(name)

    finer = None if name == "float64" else _floats("float64")
    unit = float(np.finfo(kind).eps) / 2
    return Numbers(f"NumPy {name}", lambda given: in_float64(given).astype(kind), np.array, unit, finer)


FRACTIONS = Numbers("Fractions", lambda rows: np.array(rows, dtype=object), tuple, 0.0)
NUMBERS: dict[str, Numbers] = {
    "fractions": FRACTIONS,
    **{name: _floats(name) for name in ("float64", "float32", "float16")},
    "lists": Numbers("lists of floats", lambda rows: in_float64(rows).tolist(), list, 2.0**-53),
}


@dataclass(frozen=True)
class Subject:
    """A function with how it is called, the numbers it is given, and the libraries whose randomness is followed.

    A verifier is only watched for random numbers beside its coin; with no sources it is not.
    Followed code walks each path `repeats` times more; a verdict forgives `at_most`, if that is less than the cap.
    `others` are numbers to try where the function breaks on these, which nobody asked for; none where they were told.
    `watched` says that a walk looks at generators, and walks paths on ordinary numbers too, as a verdict needs it.
    `variants` are other ways to call it, likewise; `said` is how it is called where its own words say it better, and
    `chain` that it drafts several tokens in a row; `fixed` that it takes drafts and no law of them, judged for
    each of them; `text` that it is told how long a text to return, which is then of one length.
    `finer` says what was found of it given finer numbers.
    `doubt` says, after a walk, what else all answers may be than tokens;
    ways that are `alike` cannot differ in their law. `written` writes an adapter's function sampler, which calls it so
    where that decides, and else in the way that does.
    """

    fn: Callable[..., Any]
    call: Call
    numbers: Numbers
    sources: Sequence[Source] = SOURCES
    grid: int | None = None
    others: tuple[Numbers, ...] = ()
    repeats: int = 0
    at_most: float | None = None
    said: str = ""
    chain: bool = False
    fixed: bool = False
    text: bool = False
    finer: str = ""
    doubt: Callable[[], str] | None = None
    alike: str = ""
    watched: bool = True
    variants: tuple[Subject, ...] = ()
    written: Callable[[bool], str] | None = None

    @property
    def shape(self) -> Shape:
        """The source of its drafts and of its randomness."""
        return self.call.shape

    @property
    def name(self) -> str:
        """The function's own name."""
        return str(getattr(self.fn, "__name__", "the sampler"))

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions of a verdict: how the function is called, on what numbers, and its random numbers."""
        given = [*dict(self.call.takes), *dict(self.call.makes)]
        told = ", as roles tell" * self.call.told + by_default(self.fn, given) * (not self.said)
        one = ", the drafted token as one number" if self.call.one_token and not self.call.drafts_itself else ""
        coins = "an ideal coin" if self.shape == "verifier" else "ideal uniforms"
        if self.grid is not None and self.shape != "verifier":
            coins = "uniforms on the grid of their type" if self.grid == OWN_GRID else f"uniforms k/2^{self.grid}"
        return f"called as {self.said or self.call}{told}", f"given {self.numbers.name}{one}{self.finer}", coins

    def run(self, rows: tuple[Any, Any], tokens: tuple[int, ...], coin: Any = None) -> Any:
        """Call the function on the target's and the draft's rows, made anew: it may write into them."""
        given = tokens if self.shape == "verifier" else self.numbers.tokens(tokens)
        target, draft = map(self.numbers.rows, rows)
        one = given[0] if self.call.one_token and len(tokens) == 1 else given
        return self.call(self.fn, {"coin": coin, "tokens": one, "target": target, "draft": draft})


def subject_of(
    fn: Callable[..., Any],
    shape: str | None = None,
    numbers: str | Numbers | None = None,
    grid: int | None = None,
    roles: str | Mapping[Any, str] | None = None,
) -> Subject:
    """Return a function as a subject: what its parameters take, and the numbers that it is given.

    Parameters are understood by their names, in any order: coin, tokens, target, draft and what is plainly one of them,
    such as draft_probs. With a coin it is a verifier, given Fractions; without, it draws from Python's random or
    NumPy's, is given float64 arrays where the function or its module names NumPy and arrays of Fractions otherwise, and
    drafts by itself where it takes no tokens. `roles` tells what names leave open, as "p=target,q=draft"; `shape` says
    verifier, tokens or laws and must agree. What is not understood is left to the judge, which then calls nothing.

    Raises:
        ValueError: shape, roles or numbers are unknown, or contradict the names.
        TypeError: fn cannot be called.

    >>> subject_of(lambda tokens, target, draft: tokens[0]).shape
    'tokens'
    >>> subject_of(lambda draft_probs, target_probs: 0).call.unclear
    ''
    """
    if not callable(fn):
        raise TypeError(f"a sampler is a function; got {fn!r} of type {type(fn).__name__}")
    if is_method(fn) and "." in fn.__qualname__ and not own_attributes(fn):
        with suppress(TypeError):  # no object of an abstract class is made
            fn = bound(fn)
    numbers, call = numbers or written_beside(fn), call_of(fn, shape, roles)
    others: tuple[Numbers, ...] = ()
    if numbers is None:
        followed = call.shape != "verifier"
        numbers = "float64" if followed and names(fn, "numpy") else "fractions"
        others = tuple(NUMBERS[one] for one in ("float64", "lists") if followed and one != numbers)
    if isinstance(numbers, str):
        if numbers not in NUMBERS:
            raise ValueError(f"numbers must be one of {', '.join(NUMBERS)}; got {numbers!r}")
        numbers = NUMBERS[numbers]
    return Subject(fn, call, numbers, grid=grid, others=others)


def written_beside(fn: Any) -> str | None:
    """Return the type of the numbers that an adapter's function names itself, as its attribute; None for others."""
    return fn.numbers if isinstance(getattr(fn, "numbers", None), str) else None


def ways(subject: Subject, drafts: int = 1) -> list[Subject]:
    """Return the ways to give a function its arguments, first as it is: other numbers, one token and no tuple."""
    found = [subject, *(replace(subject, numbers=numbers) for numbers in subject.others)]
    if subject.said:
        return [*found, *subject.variants]
    if subject.call.drafts_itself or drafts > 1:
        return found
    turned = replace(subject.call, one_token=not subject.call.one_token)
    return [*found, *(replace(one, call=turned) for one in found)]


def names(fn: Callable[..., Any], library: str, alone: bool = False) -> bool:
    """Say whether a function, or the module that it stands in, names a library; alone: the function itself."""
    plain = whole(fn)
    if not inspect.isroutine(plain):
        plain = getattr(type(plain), "__call__", plain)  # noqa: B004
    plain = inspect.unwrap(plain)
    code = getattr(plain, "__code__", None)
    said = () if code is None else (*code.co_names, *code.co_varnames, *code.co_freevars)
    known = [one for name, one in getattr(plain, "__globals__", {}).items() if not alone or name in said]
    modules = {str(one.__name__).partition(".")[0] for one in known if inspect.ismodule(one)}
    return library in modules or library in said
