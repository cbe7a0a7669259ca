"""The parameters of a public sampler, one by one, as far as it is understood."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from math import log
from typing import Any, Literal

from spec_math.samplers.words import (
    DRAFT,
    LOGS,
    SMALL,
    TARGET,
    Taken,
    parameters_of,
    taken_by,
    takes_none,
    takes_one,
    words_in,
)

ASKED: tuple[Taken, ...] = ("cache", "processor", "key", "metadata", "cumulative", "none")
"""What is given only where it is required, or where a way of calling asks for it."""

MANY: tuple[Taken, ...] = ("temperature", "end", "none", "lookahead", "sampling", "greedy")
"""What more than one parameter may take."""


@dataclass(frozen=True)
class Signature:
    """A function with what each of its parameters takes, by name; `values` are those that the caller told."""

    fn: Callable[..., Any]
    takes: tuple[tuple[str, Taken], ...]
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def has(self, *kinds: Taken) -> bool:
        """Say whether a parameter takes one of some kinds."""
        return any(taken in kinds for _, taken in self.takes)

    def name_of(self, kind: Taken) -> str:
        """Return the parameter that takes a kind; "" where none does."""
        return next((name for name, taken in self.takes if taken == kind), "")

    def annotation(self, name: str) -> str:
        """Return how a parameter is annotated, as text."""
        found = next((one.annotation for one in parameters_of(self.fn) if one.name == name), inspect.Parameter.empty)
        return "" if found is inspect.Parameter.empty else found if isinstance(found, str) else repr(found)

    @property
    def models(self) -> bool:
        """True if it is handed models."""
        return self.has("target model", "draft model")

    @property
    def given_drafts(self) -> bool:
        """True if it is handed drafted tokens."""
        return self.has("tokens", "draft records", "candidates")

    @property
    def fixed(self) -> bool:
        """True if it is handed drafts and no law that they were drawn from: each is then judged as a fixed one."""
        return self.given_drafts and not self.has("draft", "draft logs", "draft mass", "draft records")

    @property
    def single(self) -> bool:
        """True if it judges one drafted token, and no row of them."""
        return not self.models and self.has("tokens") and takes_one(self.name_of("tokens"))


def read(
    fn: Callable[..., Any],
    roles: Mapping[str, str],
    kinds: Mapping[str, Taken] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Signature | None:
    """Read what a function's parameters take; None where one that is required is not understood, or a law is missing.

    `roles` and `kinds` are told by the caller, and so are `values`.
    """
    kinds, values = kinds or {}, values or {}
    try:
        own = own_attributes(fn, roles)
    except (TypeError, ValueError, OSError):
        return None
    parameters = parameters_of(fn)[own is not None :]
    parameters = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    names = [one.name for one in parameters]
    known: dict[str, Taken] = {**_sides(parameters, roles), **kinds}
    every = [known.get(name) or taken_by(name, roles, True) or "" for name in (*names, *(own or ()))]
    models = any(taken.endswith("model") for taken in every)
    takes: list[tuple[str, Taken]] = [(f"self.{name}", taken) for name, taken in (own or {}).items()]
    for one in parameters:
        if one.name in values:
            continue
        taken: Taken | None = known.get(one.name) or _records(fn, one.name) or taken_by(one.name, roles, models)
        has_default = one.default is not one.empty
        if taken is None or (has_default and taken in ASKED):
            if has_default:
                if taken in ("cache", "key"):
                    takes.append((one.name, "cache" if taken == "cache" else "key"))
                continue
            if not takes_none(one):
                return None
            taken = "none"
        if taken in ("end", "bonus") and has_default and one.default is None:
            continue
        if taken in ("target", "draft", "tokens") and has_default and one.default is not None:
            return None
        takes.append((one.name, taken))
    found = Signature(fn, tuple(_together(takes)), dict(values))
    return found if _whole(found) else None


def _sides(parameters: Sequence[inspect.Parameter], roles: Mapping[str, str]) -> dict[str, Taken]:
    """Return the models that are named after their side alone, and say so by their type; or a model beside drafts."""
    found: dict[str, Taken] = {}
    plain: list[str] = []
    for one in parameters:
        words = set(re.findall(r"[a-z]+", one.name.lower()))
        side = roles.get(one.name) or ("target" if words & TARGET else "draft" if words & SMALL else "")
        typed = bool(re.search(r"Module|Model", str(one.annotation)))
        if typed and side in ("target", "draft") and words <= TARGET | SMALL | DRAFT:
            found[one.name] = "target model" if side == "target" else "draft model"
        if words & {"model", "net", "lm", "llm"} and not side:
            plain.append(one.name)
    if {"candidates", "logits"} <= {one.name for one in parameters}:
        found["logits"] = "candidate logits"
    drafted = any(taken_by(one.name, roles, True) == "tokens" for one in parameters)
    if len(plain) == 1 and drafted and "target model" not in found.values():
        found[plain[0]] = "target model"
    return found


def _records(fn: Callable[..., Any], name: str) -> Taken | None:
    record = record_of(fn, name)
    if record is None or held_by(record) is None:
        return None
    words = set(re.findall(r"[a-z]+", name.lower()))
    return "target records" if words & TARGET else "draft records" if words & SMALL else None


def _together(takes: list[tuple[str, Taken]]) -> list[tuple[str, Taken]]:
    """Read parameters beside each other: a mass beside the law that it is of, logits beside candidates."""
    kinds = [taken for _, taken in takes]
    beside = "target logs" in kinds and takes_one(next((name for name, taken in takes if taken == "tokens"), "tokens"))
    masses: dict[Taken, Taken] = {"target": "target mass", "draft": "draft mass"}

    def read_as(name: str, taken: Taken) -> Taken:
        single = beside and name.rpartition("_")[2] in ("prob", "p", "probability")
        return masses.get(taken, taken) if single else taken

    return [(name, read_as(name, taken)) for name, taken in takes]


def _whole(found: Signature) -> bool:
    """Say whether the target is there, and the draft's law or drafts, each once."""
    kinds = [taken for _, taken in found.takes if taken not in MANY]
    if len(kinds) != len(set(kinds)):
        return False
    if found.has("candidates"):
        return found.has("candidate logits")
    if not found.has("target model", "target", "target logs", "target records"):
        return False
    if found.has("draft records") or found.has("target records"):
        return found.has("draft records") and found.has("target records")
    if found.has("draft model"):
        return found.has("target model") and not found.given_drafts and not found.has("bonus", "draft", "draft logs")
    return found.given_drafts and not (found.models and found.has("bonus"))


def is_method(fn: Callable[..., Any]) -> bool:
    """Say whether a function's first parameter is the object it belongs to."""
    return next((one.name for one in parameters_of(fn)), "") == "self"


def own_attributes(fn: Callable[..., Any], told: Mapping[str, str]) -> dict[str, Taken] | None:
    """Return the models that a method finds in its object, by attribute; None for a function.

    Raises:
        ValueError: it uses an attribute that is neither a method of its class, a model, nor the device.
        OSError: its source cannot be read.
    """
    if not is_method(fn):
        return None
    found: dict[str, Taken] = {}
    kind = _class_of(fn)
    for name in dict.fromkeys(re.findall(r"\bself\.(\w+)", inspect.getsource(fn))):
        taken = taken_by(name, told, True)
        if name == "device" or hasattr(kind, name):
            continue
        if taken not in ("target model", "draft model"):
            raise ValueError(f"{fn.__qualname__} uses self.{name}, which is not understood")
        found[name] = taken
    return found


def bound(fn: Callable[..., Any], attributes: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a method bound to an object of its class that was not initialised, with some attributes and a device."""
    kind: Any = _class_of(fn)
    mine = kind.__new__(kind)
    for name, value in {"device": "cpu", **attributes}.items():
        object.__setattr__(mine, name, value)
    return getattr(mine, fn.__name__) if hasattr(kind, fn.__name__) else fn.__get__(mine)


def _class_of(fn: Any) -> Any:
    owner = fn.__qualname__.rpartition("<locals>.")[2].rpartition(".")[0]
    found = getattr(fn, "__globals__", {}).get(owner)
    return found if isinstance(found, type) else type(owner or "Object", (), {fn.__name__: fn})


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
        words = words_in(one.name)
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
    """Return a record of a token and its mass under a law, with that of the drafted token if it has a place for it."""
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
