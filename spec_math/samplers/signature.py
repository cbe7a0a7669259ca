"""The reader of signatures: what each parameter of a function takes, by names, types, defaults and what is told."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from math import log
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, get_args

import numpy as np

from spec_math.pathwise.loading import load_sampler
from spec_math.pathwise.time_readings import ticking as ticking
from spec_math.samplers.generators import generator_for, source_of
from spec_math.samplers.words import (
    LAW,
    LOGS,
    SMALL,
    TARGET,
    Given,
    Taken,
    Unknown,
    beside,
    model_of,
    name_of,
    parameters_of,
    side_of,
    taken_by,
    takes_one,
    words_in,
)

NEVER: tuple[Taken, ...] = ("coin", *get_args(Unknown))
"""What is not given to a function that is called as it is."""

ASKED: tuple[Taken, ...] = ("processor", "metadata", "cumulative", "none", "batch", "top k", "top p", *NEVER)
"""What is given only where it is required."""

MANY: tuple[Taken, ...] = (
    *("temperature", "end", "none", "lookahead", "sampling", "greedy"),
    *("size", "device", "tokenizer", "batch", "top k", "top p", "counter", "list"),
)
"""What more than one parameter may take."""


def read(
    fn: Callable[..., Any], told: Mapping[str | int, Given] | None = None, own: Mapping[str, Taken] | None = None
) -> dict[str, Taken]:
    """Return what each parameter of a function takes, by its name, its type and what the caller told of it.

    `own` are the models that a method finds in its object, by attribute.

    Raises:
        ValueError: something was told of a parameter that the function has not.

    >>> read(lambda target_probs, q, temperature: 0, {"q": "draft"})
    {'target_probs': 'target', 'q': 'draft', 'temperature': 'temperature'}
    """
    found: dict[str, Taken] = {name: _by_type(fn, one) or taken_by(name) for name, one in named_in(fn).items()}
    for name, taken in found.items():
        # What is called on an object that is neither a distribution nor a model is for the caller to give.
        calls = set(re.findall(rf"(?<![\w.]){name}\.(\w+)\(", source_of(fn))) - (MODELS if "model" in taken else ARRAYS)
        if calls and not words_in(name) & LAW and taken in ("target", "draft", "target model", "draft model", "model"):
            found[name] = ""
    said: dict[str, Taken] = {name: taken for name, taken in told_by_name(fn, told or {}) if name}
    for name, taken in said.items():
        if taken in ("target", "draft") and found[name].endswith("model"):
            said[name] = model_of(taken)
    return beside({**(own or {}), **found, **said}) | said


ARRAYS = {
    *(*dir(np.ndarray), *dir(list), *dir(str), "dim", "to", "softmax", "log_softmax", "log", "exp", "float", "double"),
    *("half", "cpu", "cuda", "numpy", "unsqueeze", "detach", "gather", "size", "new_zeros"),
}
MODELS = {"to", "eval", "train", "cuda", "half", "float", "parameters", "named_parameters", "modules", "forward"}
"""Names of what is called on arrays, tensors, lists and texts, and on models."""


def named_in(fn: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function that have names of their own, unlike *args and **options."""
    found = parameters_of(fn).items()
    return {name: one for name, one in found if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def by_default(fn: Callable[..., Any], given: Collection[str], initialised: bool = False) -> str:
    """Return in words what keeps its default of a function and, if told, of its object's `__init__`; "" if none does.

    Objects are named without their addresses, which differ from run to run.

    >>> by_default(lambda target, draft, top_k=None, by=by_default: target, ["target", "draft"])
    ', with top_k=None, by=<function by_default> by default'
    """
    kept = [
        f"{name}={re.sub(' at 0x[0-9a-f]+', '', repr(one.default))}"
        for name, one in (named_in(fn) | (initial(fn) if initialised else {})).items()
        if name not in given and one.default is not one.empty
    ]
    return f", with {', '.join(kept)} by default" * bool(kept)


def told_by_name(fn: Callable[..., Any], told: Mapping[str | int, Given]) -> list[tuple[str, Any]]:
    """Return what was told by the names of the parameters; "" for a place that has no name.

    Raises:
        ValueError: the function has no such parameter.
    """
    every, names = list(parameters_of(fn).values()), list(named_in(fn))
    unnamed = not every or any(one.kind == one.VAR_POSITIONAL for one in every)
    for key in told:
        if key not in names and not (isinstance(key, int) and (key < len(names) or unnamed)):
            shown = ", ".join(map(str, every)) or "none that can be read"
            raise ValueError(
                f"roles name the parameter {key!r}, which {name_of(fn)} does not have; its parameters are: {shown}"
            )
    return [(key if isinstance(key, str) else "".join(names[key : key + 1]), taken) for key, taken in told.items()]


def _by_type(fn: Callable[..., Any], one: inspect.Parameter) -> Taken | None:
    """Return what a parameter takes that is a model, or a list of records, by its type or as it is called."""
    words, side = words_in(one.name), side_of(one.name)
    called, indexed = (re.search(rf"(?<![\w.]){one.name}{mark}", source_of(fn)) for mark in (r"\(", r"\["))
    typed = re.search(r"Module|Model", str(one.annotation)) is not None
    if side and words <= TARGET | SMALL and (typed or (called and not indexed)):
        return model_of(side)
    record = record_of(fn, one.name)
    if side and record is not None and held_by(record) is not None:
        return "target records" if side == "target" else "draft records"
    return None


@dataclass(frozen=True)
class Signature:
    """A function with what each of its parameters takes, by name; `values` are those that the caller told.

    `open` are the parameters, and the attributes of its object, that are not understood. Where the object is
    `initialised`, the parameters of its `__init__` stand in place of its attributes.
    """

    fn: Callable[..., Any]
    takes: tuple[tuple[str, Taken], ...]
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    open: tuple[tuple[str, Taken], ...] = ()
    initialised: bool = False

    def has(self, *kinds: Taken) -> bool:
        """Say whether a parameter takes one of some kinds."""
        return any(taken in kinds for _, taken in self.takes)

    def name_of(self, kind: Taken) -> str:
        """Return the parameter that takes a kind; "" where none does."""
        return next((name for name, taken in self.takes if taken == kind), "")

    def annotation(self, name: str) -> str:
        """Return how a parameter is annotated, as text."""
        one = (parameters_of(self.fn) | initial(self.fn)).get(name)
        return "" if one is None else written(one.annotation)

    @property
    def whole(self) -> bool:
        """True if all is understood, the target is there, and the draft's distribution or drafts, each once."""
        kinds = [taken for _, taken in self.takes if taken not in MANY]
        if self.open or len(kinds) != len(set(kinds)):
            return False
        if self.has("candidates"):
            return self.has("candidate logits")
        if not self.has("target model", "target", "target logs", "target records"):
            return False
        if self.has("draft records", "target records"):
            return self.has("draft records") and self.has("target records")
        if self.has("draft model"):
            return self.has("target model") and not (self.given_drafts or self.has("bonus", "draft", "draft logs"))
        return self.given_drafts and not (self.models and self.has("bonus"))

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


def as_it_is(
    fn: Callable[..., Any],
    told: Mapping[str | int, Given],
    values: Mapping[str, Any] | None = None,
    initialised: bool = False,
) -> Signature:
    """Return what is given to a function that takes models, logits or batches, and what of it is not understood.

    `told` and `values` are told by the caller. A method's object is `initialised`, or has attributes set from outside.
    """
    takes: dict[str, Taken] = {}
    unknown: dict[str, Taken] = {}
    first = initial(fn) if initialised else {}
    own = own_attributes(fn)
    if initialised:
        of_attributes, own = own, {}
        for name in first:
            own[name] = of_attributes.get(name) or taken_by(name.removeprefix("self."))
    parameters, values = named_in(fn) | first, values or {}
    for name, taken in read(fn, told, own).items():
        taken = "tokens" if taken == "made" else taken
        one = parameters.get(name, inspect.Parameter("own", inspect.Parameter.KEYWORD_ONLY))
        required, is_none = one.default is one.empty, one.default is None
        if name in values or (name == "self" and is_method(fn)):
            continue
        if not required and (taken in ASKED or (taken in ("end", "bonus") and is_none)):
            continue
        optional = taken in NEVER and re.search(r"\bNone\b|\bOptional\b", written(one.annotation))
        optional = optional and not (required and words_in(name) & (LAW | LOGS))
        made = taken == "generator" and generator_for(fn, name)
        by_default = taken in ("target", "draft", "tokens") and not (required or is_none)
        of_object = name.startswith("self.") and taken not in OF_OBJECTS
        if of_object and not required:
            continue
        if (taken in NEVER and not optional and not made) or by_default or of_object:
            unknown[name] = taken
        else:
            takes[name] = "none" if taken in NEVER and not made else taken
    # A mass stands beside the law that it is of, and the token that it is the mass of.
    drafted = next((name for name, taken in takes.items() if taken == "tokens"), "tokens")
    if "target logs" in takes.values() and takes_one(drafted):
        masses: dict[Taken, Taken] = {"target": "target mass", "draft": "draft mass"}
        single = [name for name in takes if name.rpartition("_")[2] in ("prob", "p", "probability")]
        takes |= {name: masses.get(takes[name], takes[name]) for name in single}
    return Signature(fn, tuple(takes.items()), values, tuple(unknown.items()), initialised)


OF_OBJECTS: tuple[Taken, ...] = ("target model", "draft model", *MANY)
"""What a method may find in its object."""


def is_method(fn: Callable[..., Any]) -> bool:
    """Say whether a function's first parameter is the object it belongs to."""
    return next(iter(parameters_of(fn)), "") == "self"


def written(annotation: Any) -> str:
    """Return an annotation as text; "" for none."""
    if isinstance(annotation, str):
        return annotation
    return "" if annotation is inspect.Parameter.empty else repr(annotation)


def own_attributes(fn: Callable[..., Any]) -> dict[str, Taken]:
    """Return what a method finds in its object, by attribute, as in self.model; nothing for a function.

    Methods of its class that it calls are read too. Where their source cannot be read, the object is all that is known.
    """
    if not is_method(fn):
        return {}
    kind, ahead, seen, every = _class_of(fn), [fn], dict.fromkeys(["device"]), ""
    while ahead:
        source = source_of(ahead.pop())
        if not source:
            return {"self.state": "self"}
        every += source
        used = [one for one in re.findall(r"\bself\.(\w+)", source) if one not in seen]
        seen |= dict.fromkeys(used)
        ahead += [one for name in used if isinstance(one := getattr(kind, name, None), FunctionType)]
    found: dict[str, Taken] = {}
    for name in seen:
        first = re.search(rf"\bself\.{name}\b(?! = )", source_of(fn).partition(f"self.{name} = ")[0])
        made = f"self.{name} = " in source_of(fn) and first is None
        if name != "device" and not made and not hasattr(kind, name):
            counted = re.search(rf"\bself\.{name} [+-]= ", every) is not None
            kept: Taken = "list" if f"self.{name}.append(" in every else taken_by(name)
            if f"self.{name}(" in every and words_in(name) <= TARGET | SMALL:
                kept = model_of(side_of(name))
            found[f"self.{name}"] = "counter" if counted else kept
    return found


def initial(fn: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of the `__init__` of a method's class, as self.x; none where it has no own one."""
    kind = _class_of(fn) if is_method(fn) else object
    found = named_in(kind.__init__) if isinstance(kind.__init__, FunctionType) else {}
    return {f"self.{name}": one for name, one in found.items() if name != "self"}


def initialised(fn: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    """Return a method bound to an object of its class that was made by its `__init__` of these parameters.

    >>> class Engine:
    ...     def __init__(self, limit):
    ...         self.most = limit + 1
    ...     def verify(self):
    ...         return self.most
    >>> initialised(Engine.verify, limit=1)()
    2
    """
    return getattr(_class_of(fn)(**given), fn.__name__)


def bound(fn: Callable[..., Any], **attributes: Any) -> Callable[..., Any]:
    """Return a method bound to an object of its class that was not initialised, with some attributes and a device.

    >>> class Engine:
    ...     def verify(self):
    ...         return self.limit
    >>> bound(Engine.verify, limit=2)()
    2
    """
    kind: Any = _class_of(fn)
    mine = kind.__new__(kind)
    for name, value in {"device": "cpu", **attributes}.items():
        object.__setattr__(mine, name, value)
    return getattr(mine, fn.__name__) if hasattr(kind, fn.__name__) else fn.__get__(mine)


def judged_at(
    file: str, place: str, stubs: Sequence[str] = (), edits: Sequence[str] = (), given: Any = None
) -> Callable[..., Any]:
    """Load the function, class or method MODULE:NAME, a path of a file being relative to the adapter's own `file`.

    `stubs` are packages that it imports and does not use, `edits` places of its source changed, as 'old=>new'.

    >>> judged_at(__file__, "spec_math.token_level.single:verify").__name__
    'verify'
    """
    path, _, name = place.rpartition(":")
    path = str(Path(file).parent / path) if path.endswith(".py") else path
    found = load_sampler(f"{path}:{name}", stubs, edits, given)
    if found.note:
        warnings.warn(found.note, stacklevel=2)
    return found.value


def _class_of(fn: Any) -> Any:
    owner = fn.__qualname__.rpartition("<locals>.")[2].rpartition(".")[0]
    found = getattr(inspect.unwrap(fn), "__globals__", {}).get(owner)
    if not isinstance(found, type):
        return type(owner or "Object", (), {fn.__name__: fn})
    if inspect.isabstract(found):
        found: Any = type(found)(owner, (found,), {})
        found.__abstractmethods__ = frozenset()  # what is abstract is not asked for
    return found


Held = Literal["token", "log", "mass", "draft's log", "draft's mass"]
"""What a field holds: a token, its mass or the logarithm of that, or those of the drafted token."""

TOKEN = {"token", "id", "idx", "index", "tok"}
MASS = {"prob", "p", "probability", "mass"}


def record_of(fn: Callable[..., Any], name: str) -> type | None:
    """Return the dataclass of which a parameter takes a list, by its annotation; None where it takes none."""
    annotation = parameters_of(fn)[name].annotation
    if isinstance(annotation, str):
        named = re.fullmatch(r"(?:list|List|Sequence|tuple|Tuple)\[([\w.]+)(?:, \.\.\.)?\]", annotation.strip("'\""))
        found = getattr(inspect.unwrap(fn), "__globals__", {}).get(named[1]) if named else None
    else:
        found = next(iter(getattr(annotation, "__args__", ())), None)
    return found if isinstance(found, type) and is_dataclass(found) else None


def held_by(record: type) -> dict[str, Held] | None:
    """Return what the fields of a record hold; None where a required one is not understood, or none is a token."""
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
        whose = drafted if held.startswith("draft's") else token
        mass = None if whose is None else float(law[whose])
        logged = held.endswith("log") and mass is not None
        given[name] = token if held == "token" else (log(mass) if mass else -float("inf")) if logged else mass
    return record(**given)
