"""Memory addresses and hashes of texts, which change between processes: what explored code does with them is noted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from spec_math.audit.exploration.stand_ins import Place, all_held, standing_in
from spec_math.audit.exploration.tape import Tape


class Address(int):
    """What id() tells: it may be kept, hashed and compared for being equal; any other use is noted.

    >>> noted = []
    >>> address = address_of([], noted.append)
    >>> address == int(address), len(noted), address % 2 < 2, noted
    (True, 0, True, ['id(), whose number was used'])
    """

    note: Callable[[str], None]


def _noting(operation: Callable[..., Any]) -> Any:
    def method(self: Address, *others: Any) -> Any:
        self.note("id(), whose number was used")
        return operation(int(self), *others)

    return method


def _turned(operation: Callable[..., Any]) -> Any:
    def exchanged(value: int, other: Any) -> Any:
        return operation(other, value)

    return _noting(exchanged)


for _name in ("add", "sub", "mul", "mod", "floordiv", "truediv", "and_", "or_", "xor", "lshift", "rshift"):
    setattr(Address, f"__{_name.rstrip('_')}__", _noting(getattr(operator, _name)))
    setattr(Address, f"__r{_name.rstrip('_')}__", _turned(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge", "neg", "abs"):
    setattr(Address, f"__{_name}__", _noting(getattr(operator, _name)))
_builtin: Any
for _builtin in (str, repr, format, divmod, float):
    setattr(Address, f"__{_builtin.__name__}__", _noting(_builtin))


def address_of(value: Any, note: Callable[[str], None]) -> Address:
    """Return id(value), which notes what is done with it.

    >>> address_of(3, print) == id(3)
    True
    """
    found = Address(id(value))
    found.note = note
    return found


@contextmanager
def addresses_noted(tape: Tape) -> Generator[None]:
    """Note on the tape what the code's own modules do with id() and hash(), while the block lasts.

    >>> with addresses_noted(Tape()):
    ...     hash("salted anew in each process") == hash("salted anew in each process")
    True
    """
    with tape.standing("addresses", lambda: _standing(tape)):
        yield


@contextmanager
def _standing(tape: Tape) -> Generator[None]:
    def noted_id(value: Any) -> int:
        return id(value) if tape.foreign() else address_of(value, tape.note)

    def noted_hash(value: Any) -> int:
        found = None if tape.foreign() else _changing(value)
        if found is not None:
            tape.note(f"hash() of a {found.__name__}, another in each process")
        return hash(value)

    found = {id(space): space for space, _ in tape.places}.values()
    spaces = [space for space in found if isinstance(space, dict) and "__builtins__" in space]
    where: list[Place] = []
    values: list[Any] = []
    for space in spaces:
        for name, stand_in in (("id", noted_id), ("hash", noted_hash)):
            if name not in space:
                where.append((space, name))
                values.append(stand_in)
    pairs = zip(tape.places, all_held(tape.places), strict=True)
    for place, value in [(place, value) for place, value in pairs if value is id or value is hash]:
        where.append(place)
        values.append(noted_id if value is id else noted_hash)
    with standing_in(where, values):
        yield


def _changing(value: Any) -> type[Any] | None:
    """Return the type of what makes a hash another in each process: the value's own, or that of something in it."""
    kind: Any = type(value)
    if kind in (str, bytes) or kind.__hash__ is object.__hash__:
        return kind
    if kind.__hash__ in (tuple.__hash__, frozenset.__hash__):
        return next((found for found in map(_changing, value) if found is not None), None)
    return None
