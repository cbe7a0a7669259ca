"""Generators of random numbers that a function is handed: which kind it uses, and how one is made for each call."""

from __future__ import annotations

import ast
import inspect
import random
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.samplers.words import parameters_of

Maker = Callable[[], Any]

MAKERS: dict[str, Maker] = {
    "np.random.default_rng()": lambda: np.random.default_rng(),
    "random.Random()": lambda: random.Random(),
    "torch.Generator()": lambda: sys.modules["torch"].Generator(),
}
"""How each kind is made, as a user writes it. Each is made anew in each call, where its numbers are followed."""

_BY_TYPE = {"Generator": "np.random.default_rng()", "Random": "random.Random()"}

_IN_TWO_WAYS = {"triangular", "seed", "bytes", "randbytes", "randint", "sample"}
"""Methods that tell no kind: NumPy's old generators or the other kind have them too, with another meaning."""

_TORCH_DRAWS = {
    *("rand", "randn", "randint", "randperm", "multinomial", "bernoulli", "bernoulli_", "normal", "normal_"),
    *("uniform_", "exponential_", "random_", "geometric_", "cauchy_", "log_normal_"),
}
"""Functions and methods of torch that take generator=."""

_METHODS = {
    "np.random.default_rng()": {one for one in dir(np.random.Generator) if not one.startswith("_")} - _IN_TWO_WAYS,
    "random.Random()": {one for one in dir(random.Random) if not one.startswith("_")} - _IN_TWO_WAYS,
    "torch.Generator()": {"generator="},
}
"""What each kind is known by: methods, or that a draw of torch's takes it as generator=."""


def generator_for(fn: Callable[..., Any], name: str) -> str:
    """Return how the generator that a function takes under a name is made, read from its type or from its use.

    "" where neither tells: it is then asked for. A method that NumPy's Generator and Python's Random both have, such
    as random or uniform, has one law in both.

    >>> def verify(tokens, target, draft, rng):
    ...     return tokens[0] if rng.random() < target[tokens[0]] else rng.choice(len(target), p=target)
    >>> generator_for(verify, "rng")
    'np.random.default_rng()'
    >>> generator_for(lambda target, draft, key: 0, "key")
    ''
    """
    typed = _by_type(fn, name)
    if typed is None:
        used = _used(fn, name, 3)
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


def tree_of(fn: Callable[..., Any]) -> ast.Module | None:
    """Return the source of a function as a tree; None where it cannot be read."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, TypeError, SyntaxError):
        return None


def _used(fn: Callable[..., Any], name: str, depth: int) -> set[str] | None:
    """Return the methods that a function, or those that it hands the name on to, call on it; None for other uses.

    "generator=" stands for a generator that is handed on under that name, as torch's functions take it.
    """
    tree = tree_of(fn)
    if tree is None:
        return None
    used: set[str] = set()
    known: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is(node.value, name):
            used.add(node.attr)
            known.add(id(node.value))
        for value, callee, taken in _handed_on(node, name, fn):
            found = {"generator="} if callee is None else _used_by(callee, taken, depth)
            if found is None:
                return None
            used |= found
            known.add(id(value))
    return used if all(id(node) in known for node in ast.walk(tree) if _is(node, name)) else None


def _used_by(callee: Callable[..., Any], name: str, depth: int) -> set[str] | None:
    """Return the same of a function that takes the generator under a name: what its type says comes first."""
    typed = _by_type(callee, name)
    if typed is None:
        return _used(callee, name, depth - 1) if depth else None
    return _METHODS.get(typed)


def _handed_on(node: ast.AST, name: str, fn: Any) -> list[tuple[ast.AST, Callable[..., Any] | None, str]]:
    """Return where a call hands a name on: the place, the function if it stands beside this one, and its parameter."""
    if not isinstance(node, ast.Call):
        return []
    callee = getattr(fn, "__globals__", {}).get(node.func.id) if isinstance(node.func, ast.Name) else None
    if any(isinstance(one, ast.Starred) for one in node.args):
        return []
    if not inspect.isfunction(callee):
        drawn = isinstance(node.func, ast.Attribute) and node.func.attr in _TORCH_DRAWS
        return [
            (one.value, None, "") for one in node.keywords if drawn and one.arg == "generator" and _is(one.value, name)
        ]
    names = list(inspect.signature(callee).parameters)
    placed = [(value, names[place]) for place, value in enumerate(node.args[: len(names)])]
    placed += [(one.value, one.arg) for one in node.keywords if one.arg is not None and one.arg in names]
    return [(value, callee, taken) for value, taken in placed if _is(value, name)]


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
