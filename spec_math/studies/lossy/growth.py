"""How far texts of four tokens are from the target's, exactly, under each rule on a chain, beside what bounds say.

Source: our own; the two models are a small example, in eighths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from spec_math.arrays import exact
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.lossy import Rule, blocks, fly
from spec_math.lossy.joint_threshold import generate as joint
from spec_math.result import Column, Row, Table

TARGET = {(): (1, 4, 3), (0,): (5, 1, 2), (1,): (1, 5, 2), (2,): (3, 3, 2)}
DRAFT = {(): (3, 2, 3), (0,): (4, 2, 2), (1,): (2, 4, 2), (2,): (4, 2, 2)}
"""Parts of 8: three tokens, each law given the token before."""

LENGTH = 4

COLUMNS = (
    Column("rule"),
    Column("at"),
    Column("one token", "number", "probability"),
    Column("two tokens", "number", "probability"),
    Column("four tokens", "number", "probability"),
    Column("coupled", "number", "probability", heading="at most: 1 − Σ Π min"),
    Column("uniform", "number", "probability", heading="1 − (1 − max)^4"),
    Column("KL", "number", "nats"),
)


def growth_table(rules: Sequence[Rule]) -> tuple[Table, ...]:
    """Return the exact total variation of texts under each rule of one draft, at the middle of its sweep.

    >>> from spec_math.lossy import RULES
    >>> [round(cell, 4) for cell in growth_table(RULES[:1])[0].rows[0].cells[2:6]]
    [0.125, 0.1562, 0.1808, 0.279]
    """
    rows: list[Row] = []
    for rule in rules:
        value = rule.swept[len(rule.swept) // 2]
        found = blocks.growth((_model(TARGET), _model(DRAFT)), LENGTH, rule, rule.options(value))
        last = found[-1]
        apart = [float(found[length - 1].total_variation) for length in (1, 2, 4)]
        divergence = float(last.divergence)
        nats = divergence if divergence < float("inf") else None
        rows.append(Row((rule.name, value, *apart, float(last.coupled), float(last.uniform), nats)))
    if len(rows) > 1:
        rows += [
            _of_blocks("FLy, blocks of two drafts", "1/2", fly.generate),
            _of_blocks("MTAD, the same", "1/2", joint),
        ]
    title = "Texts of a small example, exactly: total variation of one, two and four tokens, and bounds of four"
    return (Table("texts", title, COLUMNS, tuple(rows)),) if rows else ()


def _of_blocks(name: str, value: str, generate: Callable[..., Any]) -> Row:
    """A rule that decides on several positions of a block together: no single position bounds it."""
    models = _model(TARGET), _model(DRAFT)
    apart: list[float] = []
    for length in (1, 2, 4):
        emitted = emitted_law(lambda coin, prefix: generate(coin, models, prefix, 2, value), models[0], length, length)
        wanted = target_law(models[0], length)
        apart.append(float(sum(max(Fraction(0), mass - wanted.get(text, 0)) for text, mass in emitted.items())))
    return Row((name, value, *apart, None, None, None))


def _model(parts: dict[tuple[int, ...], tuple[int, ...]]) -> Any:
    laws = {last: exact([Fraction(part, 8) for part in row]) for last, row in parts.items()}

    def model(prefix: tuple[int, ...]) -> Any:
        return laws[tuple(prefix[-1:])]

    return model
