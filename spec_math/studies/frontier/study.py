"""The request of a frontier: two models or both defaults, budgets, temperatures, costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from spec_math.arrays import count
from spec_math.files.whole import write_whole
from spec_math.language.recorded import Recorded
from spec_math.result import Note, Result
from spec_math.studies import costs
from spec_math.studies.arguments import Progress, parsed_ks, together
from spec_math.studies.blocks.comparison import BlockModels, from_tables
from spec_math.studies.frontier import contenders
from spec_math.studies.frontier.comparison import Asked, compare
from spec_math.studies.frontier.contenders import LONGEST
from spec_math.studies.frontier.table import result_of


@dataclass(frozen=True)
class FrontierRequest:
    """Both embedded defaults, or two tables; texts are what a user types.

    `temperatures` are those of the target, and of the draft too where `draft_temperature` is None.
    """

    target: Path | None = None
    draft: Path | None = None
    budgets: str = "4,8,16,32,64"
    temperatures: str = "1,0.7,0.4"
    draft_temperature: float | None = None
    batch: int = 1
    costs: str = ""
    samples: int = 2_000
    seed: int = 0
    everyone: bool = False


def study(request: FrontierRequest, progress: Progress) -> Result:
    """Compare all methods under budgets of nodes, at each temperature of each pair of models.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(FrontierRequest(budgets="0"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --nodes must be at least 1; got 0
    """
    _ = budgets_of(request)
    return compared(models_of(request.target, request.draft), request, progress)


def budgets_of(request: FrontierRequest) -> Asked:
    """Return what is asked, read from what a user types.

    Raises:
        ValueError, TypeError: bad input.

    >>> budgets_of(FrontierRequest(budgets="8,4", samples=20)).budgets
    (4, 8)
    """
    budgets = parsed_ks(request.budgets, "--nodes", "4,8,16,32,64")
    samples = count(request.samples, "--samples")
    stated = costs.parsed(request.costs, request.batch)
    return Asked(tuple(sorted(set(budgets))), stated, samples, request.seed, request.everyone)


def compared(pairs: Sequence[tuple[str, BlockModels]], request: FrontierRequest, progress: Progress) -> Result:
    """Compare all methods on named pairs of models.

    Raises:
        ValueError, TypeError: bad input.

    >>> compared([], FrontierRequest(samples=0), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --samples must be at least 1; got 0
    """
    asked, heats = budgets_of(request), parsed_temperatures(request.temperatures)
    regimes = [contenders.at(name, models, heat, request.draft_temperature) for name, models in pairs for heat in heats]
    return result_of([compare(one, asked, progress) for one in regimes], asked)


def models_of(target: Path | None, draft: Path | None) -> tuple[tuple[str, BlockModels], ...]:
    """Return the pairs of models that were named, or the embedded ones where none is.

    Raises:
        ValueError, TypeError, OSError: one of two files; as `from_tables`.

    >>> models_of(Path("t.json"), None)
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    together(target, draft)
    if target is None or draft is None:
        return contenders.defaults()
    return ((f"{target.stem} and {draft.stem}", from_tables(target, draft)),)


def parsed_temperatures(text: str) -> tuple[float, ...]:
    """Read temperatures, the highest first.

    Raises:
        ValueError: one that is not a positive, finite number, or none.

    >>> parsed_temperatures("0.5,1")
    (1.0, 0.5)
    """
    found: list[float] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(float(part))
        except ValueError:
            raise ValueError(f"--temperature must list numbers, such as 1,0.7,0.4; got {part!r}") from None
    if not found or not all(0 < value < float("inf") for value in found):
        raise ValueError(f"--temperature must list positive, finite numbers, such as 1,0.7,0.4; got {text!r}")
    return tuple(sorted(set(found), reverse=True))


HEADER = "recording.json"


@dataclass(frozen=True)
class Header:
    """The header of a recording: the models' names, V, how many tokens of each law are kept, where texts start."""

    target: str
    draft: str
    size: int
    keep: int
    prefixes: tuple[tuple[int, ...], ...]


class LivePair(NamedTuple):
    """Two models that can be asked, such as `CausalModel`, and what their recording is headed by."""

    header: Header
    target: Any
    draft: Any


def recorded(folder: Path, live: LivePair | None, request: FrontierRequest, progress: Progress) -> Result:
    """Record what the comparison asks for, and compare; without live models, from what the folder holds.

    What has been recorded stays where the work ends early, and is not asked for again.

    Raises:
        ValueError, OSError: the folder holds another recording, or none where there are no live models; as `compared`.
        LookupError: something is asked for that was not recorded.

    >>> recorded(Path("no such folder"), None, FrontierRequest(), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: no such folder: there is no recording.json; give --target, --draft and --text to record
    """
    header = headed(folder, None if live is None else live.header)
    asks = {"target": live and live.target, "draft": live and live.draft}
    pair = [Recorded(folder, role, header.size, header.keep, ask) for role, ask in asks.items()]
    source = f"distributions of {header.target} and {header.draft}, recorded in {folder}"
    models = BlockModels(pair[0], pair[1], header.prefixes, header.size, source)
    try:
        # What is asked of the models must not hang on who leads: other costs may follow, without the models.
        result = compared((("recorded models", models),), replace(request, everyone=True), progress)
    finally:
        for model in pair:
            model.write()
    return replace(result, notes=(*result.notes, Note(kept(pair))))


def kept(pair: Sequence[Recorded]) -> str:
    """Say what keeping the likeliest tokens alone may change.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept([Recorded(Path(folder), role, 2, 2) for role in ("target", "draft")])
    '0 distributions are recorded whole.'
    """
    number, rests = sum(map(len, pair)), [model.largest_rest for model in pair]
    if not any(rests):
        return f"{number:,} distributions are recorded whole."
    most = LONGEST * (LONGEST + 1) * sum(rests)
    return (
        f"{number:,} distributions are recorded with {pair[0].keep} tokens each. The rest, at most {rests[0]:.2g} of "
        f"the target's mass and {rests[1]:.2g} of the draft's, is spread evenly. This changes the values slightly: "
        f"those of a chain of {LONGEST} at temperature 1 by at most {most:.2g} tokens a call."
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
