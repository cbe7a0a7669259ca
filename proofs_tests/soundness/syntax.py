"""The abstract syntax of the hunt: small programs of chance, as trees that an oracle reads and that become code.

Numbers are Fractions. A token is an index, a law a list of masses. `target`, `draft` and `tokens` are the names that a
program is given; every other name is made by `Let`, `Draw` or `Uniform`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, NamedTuple

# Scalars.


class Number(NamedTuple):
    value: Fraction


class Rounded(NamedTuple):
    """A number made a binary float: 1/3 is then no longer 1/3."""

    value: Any


class Mass(NamedTuple):
    law: Any
    token: Any


class Total(NamedTuple):
    law: Any


class Both(NamedTuple):
    """Two scalars and an operation; or, of laws and scalars, the operation token by token."""

    sign: Literal["+", "-", "*", "/", "min", "max"]
    left: Any
    right: Any


class Length(NamedTuple):
    """How many tokens the prefix of a block has."""


# Tokens.


class Fixed(NamedTuple):
    token: int


class Drafted(NamedTuple):
    place: int


class Mapped(NamedTuple):
    token: Any
    by: tuple[int, ...]


# Laws and names.


class Name(NamedTuple):
    name: str


class Listed(NamedTuple):
    """Values side by side."""

    values: tuple[Any, ...]


class Each(NamedTuple):
    """An operation token by token; the right side may be a scalar."""

    sign: Literal["+", "-", "*", "/", "min", "max"]
    left: Any
    right: Any


class Without(NamedTuple):
    law: Any
    token: Any


class Permuted(NamedTuple):
    """The law whose mass at i is law[order[i]]."""

    law: Any
    order: tuple[int, ...]


class Moved(NamedTuple):
    """The law with a share of one token's mass moved to another."""

    law: Any
    source: int
    sink: int
    share: Fraction


class Even(NamedTuple):
    """The uniform law."""

    size: int


class Row(NamedTuple):
    """One row of a table of constants, chosen by a token."""

    rows: tuple[tuple[Fraction, ...], ...]
    token: Any


class After(NamedTuple):
    """What a model says after the prefix and the tokens given: blocks alone have it."""

    model: Literal["target_model", "draft_model"]
    tokens: tuple[Any, ...]


# Conditions.


class Compared(NamedTuple):
    relation: Literal["<", "<=", "=="]
    left: Any
    right: Any


class Same(NamedTuple):
    left: Any
    right: Any


# Statements; a block is a tuple of them.


class Let(NamedTuple):
    name: str
    value: Any


class Flip(NamedTuple):
    chance: Any
    yes: tuple[Any, ...]
    no: tuple[Any, ...] = ()
    uniform: str | None = None


class Draw(NamedTuple):
    name: str
    law: Any
    uniform: str | None = None


class Uniform(NamedTuple):
    """A uniform number that is kept under a name, to be compared more than once."""

    name: str


class If(NamedTuple):
    condition: Any
    yes: tuple[Any, ...]
    no: tuple[Any, ...] = ()


class ForDrafts(NamedTuple):
    name: str
    body: tuple[Any, ...]


class Repeat(NamedTuple):
    times: int
    body: tuple[Any, ...]


class Emit(NamedTuple):
    tokens: tuple[Any, ...]


class Fail(NamedTuple):
    """Raise an exception, or return what is no token."""

    returns: str | None = None


Block = tuple[Any, ...]
TARGET, DRAFT = Name("target"), Name("draft")
ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))


def inner_blocks(statement: Any) -> tuple[tuple[str, Block], ...]:
    """Return the blocks inside a statement, each with the name of the field that holds it."""
    return tuple((field, getattr(statement, field)) for field in ("yes", "no", "body") if hasattr(statement, field))
