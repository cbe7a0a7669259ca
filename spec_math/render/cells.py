"""How one cell is written for people: as many digits as it deserves, ± a standard error, a dash where nothing is."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

from spec_math.mean import MOST_DIGITS, Mean
from spec_math.result import Cell, Column

MISSING = "—"
LONGEST_FRACTION = 24


def shown(cell: Cell, column: Column) -> str:
    """Write a cell as its column says.

    A mean is written with its interval, or with its standard error where it promises none, to the second significant
    digit of that error or of half the interval; without an error, and for other numbers, with the column's digits.

    >>> shown(Mean(0.86532, 0.0213, 40), Column("acceptance", "mean")), shown(Mean(0.25, 0.0, 0), Column("a", "mean"))
    ('0.865 ± 0.021', '0.2500')
    >>> shown(Mean(0.86532, 0.0213, 40, 0.79, 0.93, 0.99), Column("acceptance", "mean"))
    '0.865 (0.790 to 0.930)'
    >>> shown(151936, Column("tokens", "count")), shown(True, Column("lossless", "flag")), shown(None, Column("gap"))
    ('151,936', 'yes', '—')
    """
    if cell is None:
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Mean):
        return _mean(cell, column.digits)
    if column.kind == "fraction" and len(str(cell)) <= LONGEST_FRACTION:
        return str(cell)
    if isinstance(cell, str):
        return cell
    return number(cell, 0 if column.kind == "count" else column.digits)


def number(value: float | Fraction, digits: int | None = 4) -> str:
    """Write a number with so many digits after the point, or with six significant ones; thousands are set apart.

    A number that rounds to zero is written without a sign.

    >>> number(0.5), number(1234567, 0), number(float("inf")), number(1e-9, None), number(-1e-9)
    ('0.5000', '1,234,567', 'infinite', '1e-09', '0.0000')
    """
    if isinstance(value, int):
        return f"{value:,}" if not digits else f"{value:,}.{'0' * digits}"
    held = float(value)
    if not isfinite(held):
        return "undefined" if held != held else "infinite" if held > 0 else "-infinite"
    return f"{held:,.6g}" if digits is None else f"{held:z,.{digits}f}"


def _mean(mean: Mean, digits: int | None) -> str:
    low, high = mean.interval
    if mean.samples and 0 < high - low < inf:
        deserved = min(MOST_DIGITS, mean.digits or 0)
        return f"{mean.value:z,.{deserved}f} ({low:z,.{deserved}f} to {high:z,.{deserved}f})"
    if not (mean.samples or mean.error) or not isfinite(mean.error):
        return number(mean.value, digits)
    if mean.error == 0:
        return f"{number(mean.value, digits)} ± 0"
    deserved = mean.digits or 0
    if deserved > MOST_DIGITS:
        return f"{mean.value:z,.{MOST_DIGITS}f} ± {mean.error:.1e}"
    return f"{mean.value:z,.{deserved}f} ± {mean.error:,.{deserved}f}"
