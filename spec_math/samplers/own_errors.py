"""Errors of a user's own code, such as a name that is not defined, told with the function and the line."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

OWN = (NameError, TypeError, AttributeError, ImportError)
"""Exceptions that speak of the code itself, and not of the numbers that it was given."""

NAMES = frozenset(
    {"NameError", "UnboundLocalError", "TypeError", "AttributeError", "ImportError", "ModuleNotFoundError"}
)

_HERE = Path(__file__).parents[1]
_LIBRARIES = tuple(
    str(place) for place in (_HERE, _HERE.parent / "torch_bridge", *sysconfig.get_paths().values()) if str(place)
)


def in_words(error: BaseException) -> str:
    """Return an exception with its type; of an error of the user's own code, also the line of which function.

    >>> def verify(tokens):
    ...     return missing(tokens)
    >>> try:
    ...     verify(())
    ... except NameError as error:
    ...     said = in_words(error)
    >>> said.partition(" (line ")[0]
    "NameError: name 'missing' is not defined, an error in the code of verify"
    """
    said = f"{type(error).__name__}: {error}"
    if not isinstance(error, OWN):
        return said
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(_LIBRARIES)]
    if not frames:
        return said
    last = frames[-1]
    place = f"line {last.lineno} of {Path(last.filename).name}"
    return f"{said}, an error in the code of {last.name.replace('<lambda>', 'a lambda')} ({place}); mend it first"
