"""Methods that are called without their object being made: an object of the class with the attributes that it uses.

Source: worked out here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from torch_bridge.parameters import Taken, taken_by


def is_method(fn: Callable[..., Any]) -> bool:
    """Say whether a function's first parameter is the object it belongs to.

    >>> is_method(dict.get), is_method(is_method)
    (True, False)
    """
    try:
        return next(iter(inspect.signature(fn).parameters), "") == "self"
    except (TypeError, ValueError):
        return False


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
    """Return a method bound to an object of its class that was not initialised, with some attributes and a device.

    >>> class Sampler:
    ...     def step(self, token):
    ...         return self.shift + token
    >>> bound(Sampler.step, {"shift": 2})(3)
    5
    """
    kind: Any = _class_of(fn)
    mine = kind.__new__(kind)
    for name, value in {"device": "cpu", **attributes}.items():
        object.__setattr__(mine, name, value)
    return getattr(mine, fn.__name__) if hasattr(kind, fn.__name__) else fn.__get__(mine)


def _class_of(fn: Any) -> Any:
    owner = fn.__qualname__.rpartition("<locals>.")[2].rpartition(".")[0]
    found = getattr(fn, "__globals__", {}).get(owner)
    return found if isinstance(found, type) else type(owner or "Object", (), {fn.__name__: fn})
