"""What is done to laws before they are compared: temperature, top-k, top-p and min-p of either side, or of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from spec_math import distribution
from spec_math.arrays import count
from spec_math.studies.positions.stream import FLOAT, Batch, Positions, compressed

TAKES = (
    "[target.|draft.]temperature, top_k, top_p or min_p, or union.top_k, each with =VALUE, separated by commas, such "
    "as target.temperature=0.7,draft.top_k=50"
)
MOST = 50
"""The most values of a sweep."""


@dataclass(frozen=True)
class Side:
    """What is done to one side's laws, in this order; None leaves a rule out.

    >>> Side(0.7, top_p=0.9).top_k is None
    True
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None


@dataclass(frozen=True)
class Filters:
    """What is done to the target's and the draft's laws; at last both may be restricted to the best tokens of either.

    >>> Filters().union is None
    True
    """

    target: Side = field(default_factory=Side)
    draft: Side = field(default_factory=Side)
    union: int | None = None

    def put(self, name: str, value: float) -> Filters:
        """Return these with one value put: a rule of one side, target.top_p, or of both, top_p, or union.top_k.

        Raises:
            ValueError, TypeError: no such name, or a value that the rule does not take.

        >>> Filters().put("top_k", 5).draft
        Side(temperature=1.0, top_k=5, top_p=None, min_p=None)
        """
        if name == "union.top_k":
            return replace(self, union=count(_whole(value), name))
        side, dot, rule = name.rpartition(".")
        if rule not in ("temperature", "top_k", "top_p", "min_p") or side not in ("", "target", "draft") or dot == name:
            raise ValueError(f"a filter is one of {TAKES}; got {name!r}")
        given: dict[str, Any] = {rule: _checked(name, rule, value)}
        sides = [side] if side else ["target", "draft"]
        return replace(self, **{one: replace(getattr(self, one), **given) for one in sides})


def parsed_filters(texts: Sequence[str]) -> Filters:
    """Read --filter, which may be given several times.

    Raises:
        ValueError, TypeError: no such rule, or a value that it does not take.

    >>> parsed_filters(["target.temperature=0.7,top_p=0.9"]).target
    Side(temperature=0.7, top_k=None, top_p=0.9, min_p=None)
    """
    found = Filters()
    for part in ",".join(texts).split(",") if texts else ():
        name, _, value = part.strip().partition("=")
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"--filter takes {TAKES}; got {part.strip()!r}") from None
        found = found.put(name, number)
    return found


@dataclass(frozen=True)
class Sweep:
    """A filter that takes several values in turn.

    >>> Sweep("draft.temperature", (0.5, 1.0)).label
    'temperature of the draft'
    """

    name: str
    values: tuple[float, ...]

    @property
    def label(self) -> str:
        """The name in words."""
        side, _, rule = self.name.rpartition(".")
        rule = rule.replace("_", "-")
        return f"{rule} of the {side}" if side in ("target", "draft") else f"{rule} of {side or 'both'}"


def parsed_sweep(text: str) -> Sweep:
    """Read --sweep, NAME=FROM:TO:HOW MANY, both ends included.

    Raises:
        ValueError, TypeError: no such filter, or values that it does not take.

    >>> parsed_sweep("target.temperature=0.2:1.0:5").values
    (0.2, 0.4, 0.6, 0.8, 1.0)
    """
    name, _, numbers = text.partition("=")
    try:
        low, high, many = (float(part) for part in numbers.split(":"))
        steps = _whole(many)
    except (ValueError, OverflowError):
        low, high, steps = 0.0, -1.0, 0
    if not (2 <= steps <= MOST and -inf < low < high < inf):
        raise ValueError(
            f"--sweep takes NAME=FROM:TO:HOW MANY, 2 to {MOST} values with both ends, such as "
            f"draft.temperature=0.5:1.5:5, where NAME is as in --filter; got {text!r}"
        )
    values = tuple(round(low + (high - low) * step / (steps - 1), 10) for step in range(steps))
    for value in values:
        _ = Filters().put(name, value)
    return Sweep(name, values)


def filtered(positions: Positions, filters: Filters, heated: bool = False) -> Positions:
    """Return positions with their laws [V] filtered; `heated` where positive temperatures have been taken of logits.

    Raises:
        ValueError: while streaming, top_k exceeds the vocabulary, or the draft has no mass on the union.

    >>> import numpy as np
    >>> from spec_math.studies.positions.stream import from_rows
    >>> rows = lambda start, stop: np.array([[0.5, 0.25, 0.25]])
    >>> two = filtered(from_rows(rows, rows, (1, 3)), Filters().put("draft.top_k", 2))
    >>> next(two.batches(1)).drafts.round(3).tolist()
    [[0.667, 0.333, 0.0]]
    """
    sides = filters.target, filters.draft
    if any(_does_something(side, heated) for side in sides):
        inner = positions.batches

        def batches(rows: int) -> Iterator[Batch]:
            for batch in inner(rows):
                t, d = (
                    _filtered(x, side, heated) for x, side in zip((batch.targets, batch.drafts), sides, strict=True)
                )
                yield Batch(batch.start, t, d, batch.sum_error)

        positions = replace(positions, batches=batches)
    return positions if filters.union is None else compressed(positions, filters.union)


def _does_something(side: Side, heated: bool) -> bool:
    rules = (side.top_k, side.top_p, side.min_p)
    return any(rule is not None for rule in rules) or side.temperature == 0 or (not heated and side.temperature != 1)


def _filtered(masses: FLOAT, side: Side, heated: bool) -> FLOAT:
    x = masses / masses.sum(axis=1, keepdims=True)
    if side.temperature == 0 or (not heated and side.temperature != 1):
        x = distribution.temperature(x, side.temperature)
    if side.top_k is not None:
        x = distribution.top_k(x, side.top_k)
    if side.top_p is not None:
        x = distribution.top_p(x, side.top_p)
    return x if side.min_p is None else distribution.min_p(x, side.min_p)


def _checked(name: str, rule: str, value: float) -> float | int:
    if rule == "top_k":
        return count(_whole(value), name)
    if rule == "temperature" and not 0 <= value < inf:
        raise ValueError(f"{name} must be finite and >= 0; got {value:g}")
    if rule == "top_p" and not 0 < value <= 1:
        raise ValueError(
            f"{name} must lie above 0 and not above 1; got {value:g}; top_k=1 keeps the likeliest token alone"
        )
    if rule == "min_p" and not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {value:g}")
    return value


def _whole(value: float) -> Any:
    return int(value) if value == int(value) else value
