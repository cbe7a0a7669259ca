"""A sampler to be judged: somebody's function, how it is called, and the numbers that it is given.

Source: worked out here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from spec_math.audit.exploration.followed import SOURCES, Source

Shape = Literal["verifier", "tokens", "laws"]
"""verify(coin, tokens, target, draft), the library's own; fn(tokens, target, draft), which is given its drafts; or
fn(target, draft), which drafts by itself."""

_BY_ARITY: dict[int, Shape] = {4: "verifier", 3: "tokens", 2: "laws"}

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Numbers:
    """The numbers that a function is given: `rows` makes its laws, `tokens` its drafts; `unit` is their roundoff."""

    name: str
    rows: Callable[[Any], Any]
    tokens: Callable[[tuple[int, ...]], Any]
    unit: float


def _exact_rows(rows: Any) -> Any:
    return np.array(rows, dtype=object)


def _floats(name: str) -> Numbers:
    kind = np.dtype(name)

    def rows(given: Any) -> Any:
        return np.array(given, dtype=object).astype(np.float64).astype(kind)

    return Numbers(f"NumPy {name}", rows, np.array, float(np.finfo(kind).eps) / 2)


FRACTIONS = Numbers("Fractions", _exact_rows, tuple, 0.0)
NUMBERS: dict[str, Numbers] = {
    "fractions": FRACTIONS,
    "float64": _floats("float64"),
    "float32": _floats("float32"),
    "float16": _floats("float16"),
}


@dataclass(frozen=True)
class Subject:
    """A function with its shape, the numbers it is given, and the libraries whose randomness is followed.

    Made by `subject_of`.
    """

    fn: Callable[..., Any]
    shape: Shape
    numbers: Numbers
    sources: Sequence[Source] = SOURCES
    grid: int | None = None

    @property
    def name(self) -> str:
        """The function's own name."""
        return str(getattr(self.fn, "__name__", "the sampler"))


def subject_of(
    fn: Callable[..., Any], shape: str | None = None, numbers: str | Numbers | None = None, grid: int | None = None
) -> Subject:
    """Return a function as a subject: its shape by its parameters, its numbers by the libraries that it names.

    Four parameters make a verifier, given Fractions; three a function of its drafts and two one that drafts by itself,
    given float64 arrays where the function or its module names NumPy, and arrays of Fractions otherwise.

    Raises:
        ValueError: the parameters do not tell the shape, or shape or numbers is unknown.

    >>> subject_of(lambda tokens, target, draft: tokens[0]).shape
    'tokens'
    """
    found = _shape(fn, shape)
    if numbers is None:
        numbers = "float64" if found != "verifier" and names(fn, "numpy") else "fractions"
    if isinstance(numbers, str):
        if numbers not in NUMBERS:
            raise ValueError(f"numbers must be one of {', '.join(NUMBERS)}; got {numbers!r}")
        numbers = NUMBERS[numbers]
    return Subject(fn, found, numbers, grid=grid)


def names(fn: Callable[..., Any], library: str) -> bool:
    """Say whether a function, or the module that it stands in, names a library.

    >>> names(names, "numpy"), names(names, "torch")
    (True, False)
    """
    plain: Any = inspect.unwrap(fn)
    code = getattr(plain, "__code__", None)
    known = getattr(plain, "__globals__", {}).values()
    modules = {str(one.__name__).partition(".")[0] for one in known if inspect.ismodule(one)}
    return library in modules or (code is not None and library in (*code.co_names, *code.co_varnames))


def _shape(fn: Callable[..., Any], shape: str | None) -> Shape:
    if shape is not None:
        for known in get_args(Shape):
            if shape == known:
                return known
        raise ValueError(f"a shape must be one of {', '.join(get_args(Shape))}; got {shape!r}")
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    needed = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
    ]
    if len(needed) not in _BY_ARITY or any(one.kind == one.VAR_POSITIONAL for one in parameters):
        listed = ", ".join(str(one) for one in parameters) or "none that can be read"
        raise ValueError(
            "a sampler is verify(coin, tokens, target, draft), fn(tokens, target, draft) or fn(target, draft); the "
            f"parameters here are: {listed}; say which with shape, or wrap the function in one of these"
        )
    return _BY_ARITY[len(needed)]
