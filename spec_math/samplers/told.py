"""Facts that a caller tells of a function: kinds of parameters, values, what it returns, a temperature."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

Part = Literal["tokens", "count", "token", "law", "_"]
"""A part of an answer: emitted tokens, how many drafts were kept, the next token, a law to draw it from, or nothing."""


@dataclass(frozen=True)
class Told:
    """Values of parameters by name, the parts of an answer in order, and the temperature that is judged."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    returns: tuple[Part, ...] = ()
    temperature: Fraction = Fraction(1)

    @property
    def anything(self) -> bool:
        """True if something was told."""
        return bool(self.values) or bool(self.returns) or self.temperature != 1


def parts_of(text: str) -> tuple[Part, ...]:
    """Read what a function returns, in order: "count,token", "tokens,_", "_,count,law".

    Raises:
        ValueError: a word is unknown, or the words do not make emitted tokens.

    >>> parts_of("_,count,law")
    ('_', 'count', 'law')
    """
    said = [word.strip() for word in text.split(",")]
    found = tuple(known for word in said for known in get_args(Part) if known == word)
    told = sorted(part for part in found if part != "_")
    if len(found) != len(said) or told not in _ANSWERS:
        raise ValueError(
            "the parts of the return value are listed in order, as tokens, token, 'count,token', 'count,law' or "
            f"'tokens,token', with _ for a part to skip; got {text!r}"
        )
    return found


_ANSWERS = (["tokens"], ["token"], ["count", "token"], ["count", "law"], ["token", "tokens"])


def values_of(fn: Callable[..., Any], given: Sequence[str]) -> dict[str, Any]:
    """Read values of parameters, each written name=expression, as the module of the function understands it.

    An expression may also be module:expression, where it needs a name that the function's module has not.

    Raises:
        ValueError: one is not written so, the function has no such parameter, or it cannot be evaluated.

    >>> values_of(lambda gamma, alpha=1: 0, ["alpha=1 / 2"])
    {'alpha': 0.5}
    """
    plain: Any = inspect.unwrap(fn)
    names = list(inspect.signature(fn).parameters)
    found: dict[str, Any] = {}
    for one in given:
        name, equals, written = (part.strip() for part in one.partition("="))
        if not equals or not written:
            raise ValueError(f"a value is given as name=expression; got {one!r}")
        if name not in names:
            raise ValueError(f"a value is given for {name!r}, which is not one of the parameters: {', '.join(names)}")
        module, colon, rest = written.partition(":")
        space = getattr(plain, "__globals__", {})
        if colon and module.replace(".", "").isidentifier():
            space, written = vars(importlib.import_module(module)), rest
        try:
            found[name] = eval(written, dict(space))
        except Exception as error:  # whatever the expression does
            raise ValueError(f"the value of {name}, {written!r}, cannot be made: {error}") from error
    return found
