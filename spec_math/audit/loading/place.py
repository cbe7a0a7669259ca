"""What a user names FILE:FUNCTION, loaded as the module that it is in its package.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spec_math.audit.loading.package import Loading, edit_of, load_module, package_of
from spec_math.files.place import Place, load_function, value_in


def load_sampler(
    place: str,
    stubs: Sequence[str] = (),
    edits: Sequence[str] = (),
    given: Mapping[str, Mapping[str, Any]] | None = None,
) -> Place:
    """Load the function, class or method of MODULE:NAME; a file of Python inside its package, with stand-ins and edits.

    `stubs` are packages that it imports and does not use, `edits` places of its source changed, as 'old=>new'.
    `given` are names of modules that are not imported, by module.

    Raises:
        ValueError: there is no such file, module or name, or importing it fails; says which stub would help.
        TypeError: what is there cannot be called.

    >>> load_sampler("spec_math.token_level.single:verify").module
    'spec_math.token_level.single'
    """
    file, _, attribute = place.rpartition(":")
    if not file.endswith(".py"):
        if stubs or edits:
            raise ValueError(f"--stub and --replace are for a file, FILE.py:FUNCTION; got {place!r}")
        return load_function(place, "audit")
    if not attribute:
        return load_function(place, "audit")  # which says how it is written
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    root, name = package_of(path)
    pairs = [edit_of(one) for one in edits]
    try:
        module = load_module(root, name, Loading(stubs, given or {}, {name: pairs} if pairs else {}))
    except ValueError:
        raise
    except Exception as error:  # whatever a module does when imported
        raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    found = value_in(module, str(path), attribute)
    if not callable(found):
        raise TypeError(f"{place} is not a function; it is a {type(found).__name__}")
    return Place(found, name, attribute, root)
