"""Tokens per call of the ways of the frontier, by enumeration of each one's own program: an oracle."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from proofs_tests.studies.frontier.toy_models import TABLES
from spec_math.block_level import length, planned_tree, spectr, stochastic_beam, target_only, traversal, univer
from spec_math.block_level import without_replacement as rejection
from spec_math.block_level.likeliest_tree import of_draft
from spec_math.block_level.methods import (
    BEAMS,
    BEAMS_TRAVERSED,
    BRANCHED_PLAN,
    BRANCHED_REJECTION,
    BRANCHED_TRAVERSAL,
    CHOSEN,
    METHODS,
    NOISE,
    PLANNED,
    UNIVER,
    Method,
)
from spec_math.language import Table
from spec_math.papers import delayed
from spec_math.studies.lengths.units import Shape
from spec_math.token_level import shared_noise


@cache
def walked(way: Method, shape: Shape, tables: tuple[Table, Table] = TABLES) -> Fraction:
    """Tokens per call by enumeration of the way's own program."""
    k, size = shape.k, shape.levels
    if way in METHODS:
        return way.expected(*tables, (), size, k)
    if way is CHOSEN:
        return target_only.expected(*tables, (), of_draft(shape.nodes, size))
    widths = (k, *[1] * (size - 1))

    def by(program: Callable[[Any, Any], Any]) -> Any:
        return length.expected(program, ())

    programs: dict[Method, Callable[[], Any]] = {
        BEAMS: lambda: stochastic_beam.expected(*tables, (), size, k),
        BEAMS_TRAVERSED: lambda: by(
            lambda coin, start: stochastic_beam.generate(coin, *tables, start, size, k, traversal.verify)
        ),
        PLANNED: lambda: planned_tree.expected(*tables, (), widths),
        NOISE: lambda: spectr.expected(*tables, (), widths, shared_noise.verify),
        BRANCHED_REJECTION: lambda: rejection.expected(*tables, (), (2,) * size),
        BRANCHED_TRAVERSAL: lambda: by(lambda coin, start: traversal.generate(coin, *tables, start, (2,) * size)),
        BRANCHED_PLAN: lambda: planned_tree.expected(*tables, (), (2,) * size),
        UNIVER: lambda: univer.expected(*tables, (), (2,) * size),
    }
    if shape.stem:
        return delayed.expected(*tables, (), (shape.stem, size - shape.stem), k)
    return programs[way]()
