"""What is asked of the frontier: two models or both defaults, budgets, temperatures, costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spec_math.arrays import count
from spec_math.result import Result
from spec_math.studies.arguments import Progress, parsed_ks
from spec_math.studies.blocks.models import BlockModels, from_tables
from spec_math.studies.frontier import costs, regime
from spec_math.studies.frontier.comparison import Asked, compare
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
    samples: int = 60
    seed: int = 0


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
    return Asked(tuple(sorted(set(budgets))), costs.parsed(request.costs, request.batch), samples, request.seed)


def compared(pairs: Sequence[tuple[str, BlockModels]], request: FrontierRequest, progress: Progress) -> Result:
    """Compare all methods on named pairs of models.

    Raises:
        ValueError, TypeError: bad input.

    >>> compared([], FrontierRequest(samples=0), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --samples must be at least 1; got 0
    """
    asked, heats = budgets_of(request), parsed_temperatures(request.temperatures)
    regimes = [regime.at(name, models, heat, request.draft_temperature) for name, models in pairs for heat in heats]
    return result_of([compare(one, asked, progress) for one in regimes], asked)


def models_of(target: Path | None, draft: Path | None) -> tuple[tuple[str, BlockModels], ...]:
    """Return the pairs of models that were named, or the embedded ones where none is.

    Raises:
        ValueError, TypeError, OSError: one of two files; as `from_tables`.

    >>> models_of(Path("t.json"), None)
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    if (target is None) != (draft is None):
        raise ValueError("--target and --draft come together; only one was given")
    if target is None or draft is None:
        return regime.defaults()
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
