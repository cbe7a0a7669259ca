"""Arguments of the command line, read: counts, sweeps, laws, and names of tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from spec_math.arrays import count
from spec_math.files.law_files import open_laws
from spec_math.files.whole import read_json

LARGEST = 1_000_000
"""The largest number of drafts that is looked at."""


def limited(number: int, option: str, most: int = LARGEST) -> int:
    """Return a number that an option was given, a whole number from 1 to `most`.

    Raises:
        ValueError, TypeError: it is no whole number, below 1, or above `most`.
    """
    if count(number, option) > most:
        raise ValueError(f"{option} takes numbers up to {most:,}; got {number:,}")
    return number


def parsed_ks(text: str, option: str = "--k", example: str = "1,2,4,8", most: int = LARGEST) -> tuple[int, ...]:
    """Read counts separated by commas, each a whole number of at least 1, in ascending order: numbers of drafts."""
    try:
        ks = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} takes whole numbers separated by commas, such as {example}; got {text!r}") from None
    return tuple(sorted({limited(k, option, most) for k in ks}))


def prefix_of(text: str) -> tuple[int, ...]:
    """Read --prefix: token indices with blanks between them."""
    if not all(part.isascii() and part.isdigit() for part in text.split()):
        raise ValueError(f"--prefix lists token indices with blanks between them, such as '0 12 3'; got {text!r}")
    return tuple(int(part) for part in text.split())


def together(target: object, draft: object, why: str = "only one was given") -> None:
    """Refuse one of --target and --draft without the other."""
    if (target is None) != (draft is None):
        raise ValueError(f"--target and --draft come together; {why}")


def spaced(number: int, most: int) -> Any:
    """Return the places of at most so many of a number of things, evenly spaced, as integers [n]."""
    return np.linspace(0, number - 1, min(most, number)).round().astype(int)


def names_of(path: Path, size: int) -> list[str]:
    """Read the JSON list of V token names."""
    try:
        names = read_json(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"--names {path}: not a readable JSON file ({error})") from error
    if not isinstance(names, list) or len(names) != size:
        held = f"{len(names)} entries" if isinstance(names, list) else "no list"
        raise ValueError(f"--names {path}: a JSON list of the {size} token names is needed; it holds {held}")
    return [str(name) for name in names]


def law_of(text: str) -> Any:
    """Read one law: masses with commas, a JSON list in a file, or a file of laws, with @POSITION where it has several.

    Decimals of a text or of JSON are read as they are written, so that 0.1 is a tenth; floats of a file keep the type
    that they are stored in. logits:PATH is the softmax of what the file holds.

    Raises:
        ValueError, OSError: there is no such file or position, several and none named, or no list of masses.
    """
    place = text.removeprefix("logits:")
    if place.endswith(".json"):
        listed = read_json(Path(place), parse_float=str)
        if not isinstance(listed, list):
            raise ValueError(f"{text}: a distribution is a JSON list of masses; it holds {type(listed).__name__}")
        return cast("list[Any]", listed)
    if not any(ending in place for ending in (".npy", ".npz", ".safetensors")):
        return masses_of(text)
    path, at, number = place.rpartition("@")
    named = bool(at) and number.isdecimal() and not Path(place).is_file()
    file = open_laws(path if named else place)
    if not named and file.shape[0] != 1:
        raise ValueError(f"{text}: give one distribution; the file holds {file.shape[0]:,}, name one: {place}@0")
    row = file.row(int(number) if named else 0)
    if place == text:
        return row
    raised = np.exp(row.astype(np.float64) - float(row.max()))
    return raised / raised.sum()


def masses_of(text: str) -> list[str]:
    """Split a law written as masses separated by commas."""
    return [part.strip() for part in text.split(",")]


Progress = Callable[[str, int], Callable[[int], None]]
"""(what is done, its steps) -> a function that is called with how many more steps are done."""

Item = TypeVar("Item")


def stepped(items: Collection[Item], what: str, progress: Progress) -> Iterator[Item]:
    """Yield items one by one, and show after each that one step more of `what` is done."""
    step = progress(what, len(items))
    for item in items:
        yield item
        step(1)


def no_progress(what: str, steps: int) -> Callable[[int], None]:  # noqa: ARG001
    """Show no progress."""
    return lambda done: None  # noqa: ARG005


def absolute(step: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function of how many steps are done in all, from one of how many more are done."""
    seen = 0

    def done(total: int) -> None:
        nonlocal seen
        step(total - seen)
        seen = total

    return done
