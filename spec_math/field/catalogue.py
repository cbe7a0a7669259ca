"""The engines that can be judged, by name: those of every family."""

from __future__ import annotations

from spec_math.field.engine import Engine
from spec_math.field.engines import chains, loops, serving, sglang, transformers, trees, vllm, vllm_ports, vllm_runner

FAMILIES = (chains, loops, serving, vllm_ports, trees, transformers, vllm, vllm_runner, sglang)
ENGINES: tuple[Engine, ...] = tuple(engine for family in FAMILIES for engine in family.ENGINES)


def named(name: str) -> tuple[Engine, ...]:
    """Return the engines of a name, of a package, or of a repository: `rotalabs-accel` has several.

    Raises:
        ValueError: there is none; says which there are.

    >>> [engine.rule for engine in named("specdec")]
    ['chain']
    """
    found = tuple(one for one in ENGINES if name in (one.name, one.project))
    if not found:
        known = ", ".join(one.name for one in ENGINES)
        raise ValueError(f"there is no engine {name!r}; audit takes module:name, file.py:name, or one of {known}")
    return found
