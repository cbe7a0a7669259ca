"""How one cell is written for people: as many digits as it deserves, ± a standard error, a dash where nothing is."""

from __future__ import annotations

from spec_math.mean import Mean, number
from spec_math.result import Cell, Column

MISSING = "—"
LONGEST_FRACTION = 24


def shown(cell: Cell, column: Column) -> str:
    """Write a cell as its column says.

    A mean is written with its interval, or with its standard error where it promises none, to the second significant
    digit of that error or of half the interval; without an error, and for other numbers, with the column's digits.
    """
    if cell is None:
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Mean):
        return cell.written(column.digits)
    if column.kind == "fraction" and len(str(cell)) <= LONGEST_FRACTION:
        return str(cell)
    if isinstance(cell, str):
        return cell
    return number(cell, 0 if column.kind == "count" else column.digits)
