"""Lists of dataclasses in the place of drafts and laws: what each field holds, read from its name.

Source: worked out here, after the signatures of public samplers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from math import log
from typing import Any, Literal

from spec_math.audit.roles import LOGS
from torch_bridge.parameters import SMALL

Held = Literal["token", "log", "mass", "draft's log", "draft's mass"]
"""What a field holds: a token, its mass or the logarithm of that, or those of the drafted token."""

TOKEN = {"token", "id", "idx", "index", "tok"}
MASS = {"prob", "p", "probability", "mass"}


def record_of(fn: Callable[..., Any], name: str) -> type | None:
    """Return the dataclass of which a parameter takes a list, by its annotation; None where it takes none.

    >>> from fractions import Fraction
    >>> def verify(drafts: list[Fraction]): ...
    >>> record_of(verify, "drafts") is None
    True
    """
    plain: Any = inspect.unwrap(fn)
    annotation = inspect.signature(fn).parameters[name].annotation
    if not isinstance(annotation, str):
        args: Sequence[Any] = getattr(annotation, "__args__", ())
        found = args[0] if args else None
    else:
        named = re.fullmatch(r"(?:list|List|Sequence|tuple|Tuple)\[([\w.]+)(?:, \.\.\.)?\]", annotation.strip("'\""))
        found = getattr(plain, "__globals__", {}).get(named[1]) if named else None
    return found if isinstance(found, type) and is_dataclass(found) else None


def held_by(record: type) -> dict[str, Held] | None:
    """Return what the fields of a record hold; None where one that is required is not understood, or none is a token.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Seen:
    ...     token_id: int
    ...     logprob: float
    ...     draft_token_logprob: float | None = None
    >>> held_by(Seen)
    {'token_id': 'token', 'logprob': 'log', 'draft_token_logprob': "draft's log"}
    """
    held: dict[str, Held] = {}
    for one in fields(record):
        words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", one.name)}
        drafts = bool(words & SMALL)
        if words <= TOKEN:
            held[one.name] = "token"
        elif words & LOGS and words <= LOGS | MASS | TOKEN | SMALL:
            held[one.name] = "draft's log" if drafts else "log"
        elif words & MASS and words <= MASS | TOKEN | SMALL:
            held[one.name] = "draft's mass" if drafts else "mass"
        elif one.default is MISSING and one.default_factory is MISSING:
            return None
    return held if list(held.values()).count("token") == 1 else None


def made(record: type, token: int, law: Sequence[float], drafted: int | None) -> Any:
    """Return a record of a token and its mass under a law, with that of the drafted token where it has a place for it.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Seen:
    ...     token: int
    ...     prob: float
    >>> made(Seen, 1, [0.25, 0.75], None)
    Seen(token=1, prob=0.75)
    """
    given: dict[str, Any] = {}
    for name, held in (held_by(record) or {}).items():
        if held == "token":
            given[name] = token
            continue
        whose = drafted if held.startswith("draft's") else token
        if whose is None:
            given[name] = None
            continue
        mass = float(law[whose])
        given[name] = mass if held.endswith("mass") else log(mass) if mass > 0 else -float("inf")
    return record(**given)
