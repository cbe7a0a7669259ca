"""Two small models of three tokens, as files and as tables, for the tests of blocks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from typer.testing import CliRunner

from spec_math.cli import app
from spec_math.language import Table
from spec_math.studies.blocks.comparison import BlockModels

TARGET = {"": ["1/2", "1/3", "1/6"], "0": ["1/5", "1/5", "3/5"], "1": ["1/7", "2/7", "4/7"], "2": ["1/2", "1/4", "1/4"]}
DRAFT = {"": ["1/3", "1/3", "1/3"], "0": ["2/5", "2/5", "1/5"], "1": ["3/7", "2/7", "2/7"], "2": ["1/2", "1/2", 0]}


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def toy(rows: dict[str, Any], floats: bool = False) -> Table:
    laws = {tuple(map(int, key.split())): row for key, row in rows.items()}
    if floats:
        return Table({key: [float(Fraction(mass)) for mass in row] for key, row in laws.items()}, context=1)
    return Table(laws, context=1)


def pair(floats: bool = False) -> BlockModels:
    return BlockModels(toy(TARGET, floats), toy(DRAFT, floats), ((),), 3, "toy tables")
