"""Reading what a sampler returned as emitted tokens: malformed answers, and answers that may mean something else."""

from __future__ import annotations

import re
import sysconfig
import traceback
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

from spec_math.samplers.case import Case
from spec_math.scheme import is_index

Text = tuple[int, ...]


@dataclass(frozen=True)
class Fault:
    """The fault of a path, in words: "form", "tokens", "refusal", "padding" or the name of an exception.

    "form" is an answer that is not a token, "refusal" None or -1 in the place of one, "tokens" one outside the
    vocabulary, "padding" a block that ends in them.
    """

    kind: str
    said: str
    way: tuple[str, ...] = ()
    tokens: Text = ()
    mass: Any = 0


OF_ANSWERS = ("form", "tokens", "refusal", "padding")
"""The faults that are not exceptions."""


def plain(outcome: Any) -> Any:
    """Return an answer in Python's own types: an int, or a tuple of what was a list, an array or a tensor."""
    if hasattr(outcome, "tolist"):
        outcome = outcome.tolist()
    if isinstance(outcome, list | tuple):
        listed: list[Any] = list(outcome)
        outcome = tuple(one.item() if hasattr(one, "item") and not getattr(one, "ndim", 0) else one for one in listed)
    entries: tuple[Any, ...] = outcome if isinstance(outcome, tuple) else (outcome,)
    if all(entry is None or isinstance(entry, _SIMPLE) for entry in entries):
        return outcome
    # Another object has another look each time.
    shown = repr(outcome) if isinstance(outcome, tuple) and not _OBJECT.search(repr(outcome)) else None
    strange = next(entry for entry in entries if not isinstance(entry, _SIMPLE))
    kind = f"an object of type {type(strange).__name__}"
    return Fault("form", f"emitted {shown or kind}, which is not a token index or a flat list of them")


def broken(outcome: Any, case: Case) -> Fault | None:
    """Return what is wrong with a tuple of emitted tokens, or None."""
    if isinstance(outcome[0] if outcome else None, Fault):
        return outcome[0]
    if outcome in ((None,), (-1,)):
        return Fault("refusal", f"emitted {outcome[0]}, which is not a token")
    if not outcome or not all(is_index(token) for token in outcome):
        shown = outcome[0] if len(outcome) == 1 else outcome
        tuples = " or tuple of them" if case.lookahead else ""
        return Fault("form", f"emitted {shown!r}, which is not a token index{tuples}")
    if not case.lookahead and len(outcome) != 1:
        return Fault("form", f"emitted {outcome} instead of one token; give a lookahead to judge blocks of tokens")
    strays = [token for token in outcome if not 0 <= token < case.size]
    if not strays:
        return None
    sound = outcome[: -len(strays)]
    padded = case.lookahead and len(outcome) == case.lookahead + 1 and strays == [strays[0]] * len(strays)
    if padded and sound and all(0 <= token < case.size for token in sound):
        return Fault("padding", f"emitted {outcome}: it ends in {strays[0]}, which is not a token but may be padding")
    return Fault("tokens", f"emitted {outcome}, outside the tokens 0..{case.size - 1}")


@dataclass
class Answers:
    """Traits that all answers of a chain have in common, by which they may be something else than the tokens emitted.

    `lengths` are how many tokens they have, `firsts` the first of each, and `tails` what follows a token that is not
    the draft in its place; `corrected` says that there was one, or that the function drafts by itself. `listed` says
    that an answer was a list, or an array of one token or more, `tuples` that all were tuples, and `told` that an
    adapter said how many drafts an answer keeps.
    """

    lengths: set[int] = field(default_factory=set[int])
    firsts: set[int] = field(default_factory=set[int])
    tails: set[int] = field(default_factory=set[int])
    corrected: bool = False
    listed: bool = False
    tuples: bool = True
    told: bool = False

    def note(self, raw: Any, drafts: Text, emitted: Text) -> None:
        """Take in an answer, as it was and as tokens, to drafts in a row."""
        self.listed |= isinstance(raw, list | tuple) or bool(getattr(raw, "ndim", 0))
        self.tuples &= isinstance(raw, tuple)
        self.told |= getattr(raw, "told", False)
        self.lengths.add(len(emitted))
        self.firsts.add(emitted[0])
        self.corrected |= not drafts
        for place, (one, other) in enumerate(zip(drafts, emitted, strict=False)):
            if one != other:
                self.corrected = True
                self.tails.update(emitted[place + 1 :])
                return

    def misread(self, lookahead: int) -> str:
        """Say what else the answers may be than tokens, or nothing.

        A right chain emits 1 to L + 1 tokens. Padding makes all answers L + 1 long, and follows a corrected token; a
        pair may be how many drafts were accepted, and the token after them; a single number that token alone.
        """
        if len(self.lengths) != 1 or not self.corrected or self.told:
            return ""
        length = next(iter(self.lengths))
        if length == lookahead + 1 and len(self.tails) == 1:
            tail = min(self.tails)
            return f"after the first token that is not a draft, only {tail} follows; if it is padding, strip it"
        asked = "with a lookahead, return all emitted tokens, the accepted drafts first"
        if length == 1 and not self.listed:
            return f"every answer is a single number; {asked}"
        pair = length == 2 and self.tuples and max(self.firsts) <= lookahead
        return f"every answer is {length} numbers; {asked}" if pair or 1 < length < lookahead + 1 else ""


_SIMPLE = (Integral, float, str, bytes)
_OBJECT = re.compile(r" at 0x[0-9a-f]+")


OWN = (NameError, TypeError, AttributeError, ImportError)
"""Exceptions that speak of the code itself, and not of the numbers that it was given."""

NAMES = frozenset(one.__name__ for one in (*OWN, UnboundLocalError, ModuleNotFoundError))

_HERE = Path(__file__).parents[1]
_LIBRARIES = tuple(map(str, (_HERE, _HERE.parent / "torch_bridge", *sysconfig.get_paths().values())))


def raised_in_words(error: BaseException) -> str:
    """Return an exception with its type; of an error of the user's own code, also the line of which function."""
    said = f"{type(error).__name__}: {error}"
    if not isinstance(error, OWN):
        return said
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(_LIBRARIES)]
    if not frames:
        return said
    last = frames[-1]
    place = f"line {last.lineno} of {Path(last.filename).name}"
    return f"{said}, an error in the code of {last.name.replace('<lambda>', 'a lambda')} ({place}); mend it first"
