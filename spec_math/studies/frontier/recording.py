"""Two models of one's own on the frontier: their laws are recorded as they are asked for, and compared from there.

Source: our own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from spec_math.files.whole import write_whole
from spec_math.language.recorded import Ask, Recorded
from spec_math.result import Note, Result
from spec_math.studies.arguments import Progress
from spec_math.studies.blocks.models import BlockModels
from spec_math.studies.frontier.contenders import LONGEST
from spec_math.studies.frontier.study import FrontierRequest, compared

HEADER = "recording.json"


@dataclass(frozen=True)
class Header:
    """What was recorded: the models' names, V, how many tokens of each law are kept, where texts start."""

    target: str
    draft: str
    size: int
    keep: int
    prefixes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LivePair:
    """Two models that can be asked, and what their recording is headed by."""

    header: Header
    target: Ask
    draft: Ask


def study(folder: Path, live: LivePair | None, request: FrontierRequest, progress: Progress) -> Result:
    """Record what the comparison asks for, and compare; without live models, from what the folder holds.

    What has been recorded stays where the work ends early, and is not asked for again.

    Raises:
        ValueError, OSError: the folder holds another recording, or none where there are no live models; as `compared`.
        LookupError: something is asked for that was not recorded.

    >>> study(Path("no such folder"), None, FrontierRequest(), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: no such folder: there is no recording.json; give --target, --draft and --text to record
    """
    header = headed(folder, None if live is None else live.header)
    pair = [
        Recorded(folder, role, header.size, header.keep, ask)
        for role, ask in (("target", live and live.target), ("draft", live and live.draft))
    ]
    source = f"laws of {header.target} and {header.draft}, recorded in {folder}"
    models = BlockModels(pair[0], pair[1], header.prefixes, header.size, source)
    try:
        result = compared((("recorded models", models),), request, progress)
    finally:
        for model in pair:
            model.write()
    return replace(result, notes=(*result.notes, Note(kept(pair))))


def kept(pair: Sequence[Recorded]) -> str:
    """Say what keeping the likeliest tokens alone may change.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept([Recorded(Path(folder), role, 2, 2) for role in ("target", "draft")])
    '0 laws are recorded whole.'
    """
    number, rests = sum(map(len, pair)), [model.largest_rest for model in pair]
    if not any(rests):
        return f"{number:,} laws are recorded whole."
    most = LONGEST * (LONGEST + 1) * sum(rests)
    return (
        f"{number:,} laws are recorded, {pair[0].keep} tokens each; the rest, at most {rests[0]:.2g} of the target's "
        f"mass and {rests[1]:.2g} of the draft's, is spread evenly. Figures are those of models this near; at "
        f"temperature 1 one plain chain of {LONGEST} is within {most:.2g} tokens a call of the models' own."
    )


def headed(folder: Path, wanted: Header | None) -> Header:
    """Return the header of a folder, written first where it is new.

    Raises:
        ValueError: the folder holds another recording, or none and nothing is wanted.

    >>> headed(Path("no such folder"), None)
    Traceback (most recent call last):
    ValueError: no such folder: there is no recording.json; give --target, --draft and --text to record
    """
    path = folder / HEADER
    if not path.exists():
        if wanted is None:
            raise ValueError(f"{folder}: there is no {HEADER}; give --target, --draft and --text to record")
        folder.mkdir(parents=True, exist_ok=True)
        _ = write_whole(path, json.dumps(asdict(wanted)))
        return wanted
    fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    prefixes: Any = tuple(tuple(prefix) for prefix in fields["prefixes"])
    found = Header(fields["target"], fields["draft"], fields["size"], fields["keep"], prefixes)
    if wanted is not None and wanted != found:
        other = next(name for name in fields if getattr(wanted, name) != getattr(found, name))
        raise ValueError(f"{folder} holds another recording, with another {other}: use a new folder, or that one's own")
    return found
