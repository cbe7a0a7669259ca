"""The parameters of the lossy rules, read and checked: shares of 1, positive numbers, and records of them.

Source: the ranges are those that the rules' own papers and engines state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from fractions import Fraction
from math import isfinite
from typing import Any, TypeVar, cast

import numpy as np

Options = TypeVar("Options")
Reader = Callable[[Any, str], Any]
"""A check of one parameter: from what was given and its name to the value, or an error that names it."""


def number(value: Any, name: str) -> Fraction:
    """Return a parameter as the Fraction that it is: an int, a Fraction, a text such as "1/8", or a finite float.

    Raises:
        TypeError: it is a bool or no number. ValueError: a text that is no fraction, or a float that is not finite.

    >>> number("1/8", "delta"), number(0.5, "delta")
    (Fraction(1, 8), Fraction(1, 2))
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | str | Fraction | np.number):
        raise TypeError(f"{name} must be a number: an int, a Fraction, a text such as '1/8' or a float; got {value!r}")
    if isinstance(value, float | np.floating) and not isfinite(value):
        raise ValueError(f"{name} must be finite; got {value!r}")
    try:
        return Fraction(value.item() if isinstance(value, np.number) else value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} must be a number such as '1/8'; got {value!r}") from None


def share(value: Any, name: str) -> Fraction:
    """Return a parameter that is a share: a number in [0, 1].

    Raises:
        TypeError, ValueError: as `number`; it lies outside [0, 1].

    >>> share("3/2", "weight")
    Traceback (most recent call last):
    ValueError: weight must lie in [0, 1]; got 3/2
    """
    found = number(value, name)
    if not 0 <= found <= 1:
        raise ValueError(f"{name} must lie in [0, 1]; got {found if abs(found.denominator) < 10**6 else float(found)}")
    return found


def positive(value: Any, name: str) -> Fraction:
    """Return a parameter that is a number above 0.

    Raises:
        TypeError, ValueError: as `number`; it is not above 0.

    >>> positive(2, "lenience")
    Fraction(2, 1)
    """
    found = number(value, name)
    if found <= 0:
        raise ValueError(f"{name} must be above 0; got {found}")
    return found


def at_least(least: int) -> Reader:
    """Return the reader of a parameter that is a number from `least` on, which raises as `number` and below that.

    Raises:
        TypeError, ValueError: from the reader: as `number`; below `least`.

    >>> at_least(1)("1/2", "ratio")
    Traceback (most recent call last):
    ValueError: ratio must be at least 1; got 1/2
    """

    def read(value: Any, name: str) -> Fraction:
        found = number(value, name)
        if found < least:
            raise ValueError(f"{name} must be at least {least}; got {found}")
        return found

    return read


def above_zero(at_zero: str) -> Reader:
    """Return the reader of a parameter that is a share above 0; `at_zero` is the end of its message.

    Raises:
        TypeError, ValueError: from the reader: as `share`; it is 0.

    >>> above_zero(": nothing would be tested; got 0")(0, "threshold")
    Traceback (most recent call last):
    ValueError: threshold must be above 0: nothing would be tested; got 0
    """

    def read(value: Any, name: str) -> Fraction:
        found = share(value, name)
        if found == 0:
            raise ValueError(f"{name} must be above 0{at_zero}")
        return found

    return read


def one_of(choices: Sequence[str]) -> Reader:
    """Return the reader of a parameter that is one of some words.

    Raises:
        ValueError: from the reader: it is none of them.

    >>> one_of(("target", "favourite"))("draft", "after")
    Traceback (most recent call last):
    ValueError: after must be one of target, favourite; got 'draft'
    """

    def read(value: Any, name: str) -> Any:
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
        return value

    return read


def option(default: Any, reader: Reader) -> Any:
    """Return a parameter of a `Checked` record: its default, and the reader of what is given in its place."""
    return field(default=default, metadata={"reader": reader})


class Checked:
    """A record of options, each read by its own reader when it is made, in their order.

    Raises:
        TypeError, ValueError: as the readers.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Weight(Checked):
    ...     weight: Any = option(Fraction(1), share)
    >>> Weight("1/2"), Weight()
    (Weight(weight=Fraction(1, 2)), Weight(weight=Fraction(1, 1)))
    """

    def __post_init__(self) -> None:
        for one in fields(cast(Any, self)):
            if "reader" in one.metadata:
                object.__setattr__(self, one.name, one.metadata["reader"](getattr(self, one.name), one.name))


def options_of(kind: type[Options], given: Any) -> Options:
    """Return the options of a rule: a record of its own kind as it is, a mapping {name: value} read into one.

    None stands for the rule's defaults, and a bare number for the first option.

    Raises:
        TypeError: they are something else. ValueError: a name that the rule does not have, or a value out of range.

    >>> from dataclasses import make_dataclass
    >>> Weight = make_dataclass("Weight", ["weight"])
    >>> options_of(Weight, {"weight": "1/2"}), options_of(Weight, 0.5)
    (Weight(weight='1/2'), Weight(weight=0.5))
    """
    if isinstance(given, kind):
        return given
    names = [one.name for one in fields(cast(Any, kind))]
    if given is None:
        return kind()
    if isinstance(given, Mapping):
        unknown = [name for name in cast("Mapping[str, Any]", given) if name not in names]
        if unknown:
            raise ValueError(f"this rule has the options {', '.join(names)}; not {unknown[0]!r}")
        return kind(**cast("Mapping[str, Any]", given))
    if isinstance(given, int | float | str | Fraction | np.number) and not isinstance(given, bool):
        return kind(**{names[0]: given})
    raise TypeError(f"the options of a rule are a record or a mapping of {', '.join(names)}; got {given!r}")
