"""Names of a module that stand for others while a run lasts."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(module: Any, values: Mapping[str, Any]) -> Generator[None]:
    """Let names of a module stand for other values while the block lasts.

    >>> import random
    >>> with replaced(random, {"random": lambda: 2}):
    ...     random.random()
    2
    """
    held = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in held.items():
            setattr(module, name, value)
