"""Generators of random numbers that a function is handed: which kind it uses, and how one is made for each call."""

from __future__ import annotations

import inspect
import random
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.pathwise.compiled import DRAWING
from spec_math.samplers.words import parameters_of

_BY_TYPE = {"Generator": "np.random.default_rng()", "Random": "random.Random()"}

_IN_TWO_WAYS = {"triangular", "seed", "bytes", "randbytes", "randint", "sample"}
"""Methods that tell no kind: NumPy's old generators or the other kind have them too, with another meaning."""

_METHODS = {
    "np.random.default_rng()": {one for one in dir(np.random.Generator) if not one.startswith("_")} - _IN_TWO_WAYS,
    "random.Random()": {one for one in dir(random.Random) if not one.startswith("_")} - _IN_TWO_WAYS,
    "torch.Generator()": {"generator="},
}
"""What each kind is known by: methods, or that a draw of torch's takes it as generator=."""


def made_by(how: str) -> Any:
    """Return a generator that is made as a user writes it, anew in each call, where its numbers are followed."""
    return eval(how, {"np": np, "random": random, "torch": sys.modules.get("torch")})


def generator_for(fn: Callable[..., Any], name: str) -> str:
    """Return how the generator that a function takes under a name is made, read from its type or from its use.

    "" where neither tells: it is then asked for. A method that NumPy's Generator and Python's Random both have, such
    as random or uniform, has one law in both.
    """
    typed = _by_type(fn, name)
    if typed is None:
        used = _used(fn, name)
        typed = next((kind for kind, known in _METHODS.items() if used and used <= known), "")
    return "" if typed == "torch.Generator()" and "torch" not in sys.modules else typed


def _by_type(fn: Callable[..., Any], name: str) -> str | None:
    """Return the kind that an annotation names; "" for another type, and None without one or with one for anything."""
    annotation: Any = getattr(parameters_of(fn).get(name), "annotation", inspect.Parameter.empty)
    if annotation is inspect.Parameter.empty:
        return None
    written = annotation if isinstance(annotation, str) else f"{annotation.__module__}.{annotation.__qualname__}"
    parts = [part.strip() for part in written.replace("Optional[", "").replace("]", "").split("|")]
    named = [part for part in parts if part != "None"]
    if named in (["Any"], ["typing.Any"]):
        return None
    if named in (["torch.Generator"], ["torch._C.Generator"]):
        return "torch.Generator()"
    return _BY_TYPE.get(named[0].rpartition(".")[2], "") if len(named) == 1 else ""


def source_of(fn: Callable[..., Any]) -> str:
    """Return the source of a function; "" where it cannot be read."""
    try:
        return inspect.getsource(fn)
    except (OSError, TypeError):
        return ""


def _used(fn: Callable[..., Any], name: str) -> set[str] | None:
    """Return the methods that a function calls on what it takes under a name; None for other uses.

    "generator=" stands for a generator that a draw of torch's takes.
    """
    source, drawn = source_of(fn), rf"\.(?:{'|'.join(DRAWING)})\(.*\bgenerator=({name})\b"
    used, given = re.findall(rf"\b{name}\.(\w+)\(", source), re.findall(drawn, source)
    others = len(re.findall(rf"\b{name}\b", source)) - len(used) - len(given)
    return {*used, *(["generator="] if given else [])} if others == 1 else None  # the parameter itself
