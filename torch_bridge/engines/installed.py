"""Which engines can be audited here, and for each of the others the reason why not."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

CURES = {
    "transformers": "pip install 'spec_math[transformers]'",
    "triton": "pip install triton, where the index has it",
}


def missing(engine: str) -> str | None:
    """Return None where an engine can be imported, else the reason for a reader.

    >>> missing("torch")
    >>> missing("an_engine")
    'an_engine is not installed: pip install an_engine'
    """
    if find_spec(engine) is not None:
        return None
    return f"{engine} is not installed: {CURES.get(engine, f'pip install {engine}')}"


def engine_part(module: str, name: str) -> ModuleType:
    """Import a module of an engine and make sure that it has what an adapter calls.

    Raises:
        ModuleNotFoundError: the engine is not installed; says how to install it.
        AttributeError: this version of the engine has no such name; says which version it is.

    >>> engine_part("torch.nn.functional", "softmax").__name__
    'torch.nn.functional'
    """
    engine = module.partition(".")[0]
    reason = missing(engine)
    if reason is not None:
        raise ModuleNotFoundError(reason, name=engine)
    part = import_module(module)
    if not hasattr(part, name):
        version = getattr(import_module(engine), "__version__", "of this version")
        raise AttributeError(
            f"{engine} {version} has no {module}.{name}, which this adapter calls; adapters are written for the "
            f"versions in constraints.txt"
        )
    return part
