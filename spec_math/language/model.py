"""A model: a function from the tokens so far to the law of the next token; here, one given as a finite table.

Source: our own; the JSON form is described at `Table.load`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, cast

import numpy as np

from spec_math.arrays import Array, asarray, check_same_number_type, count, divided_in_float64, is_exact, named_law
from spec_math.files.whole import parsed

Model = Callable[[tuple[int, ...]], Any]
"""A callable from a tuple of token indices to a law [V]. It may carry `end`, a token after which nothing follows."""


class InFloat64:
    """A model with its laws stored as float64 and divided by their sums: what rounding in a coarser type hides, shows.

    The law: t(y) / Σ t, [V], for the row t that the model returns. It carries the model's `end`.

    >>> InFloat64(lambda prefix: np.array([0.25, 0.75], dtype=np.float16))(())
    array([0.25, 0.75])
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.end: int | None = getattr(model, "end", None)

    def __call__(self, prefix: tuple[int, ...]) -> Array:
        """Return the model's law after a prefix, [V], in float64; exact laws as they are."""
        row = asarray(self._model(prefix))
        return row if is_exact(row) else divided_in_float64(row)


_FIELDS = ("rows", "context", "default", "end")


class Table:
    """A model written out: {prefix: law of the next token}, optionally of the last `context` tokens alone.

    The law: table(prefix) = rows[prefix], or rows[last `context` tokens of prefix] where a context length is given;
    `default` where there is no such row. All laws are [V], all exact or all floating (probabilities), and read-only.

    Args:
        rows: {tuple of token indices: law [V]}.
        context: how many tokens the model looks back, >= 0; None means that it looks at the whole prefix.
        default: the law [V] of every prefix without a row; None makes such a prefix an error.
        end: a token after which nothing follows: a block stops with it, and no prefix may end with it.

    Raises:
        ValueError: a row is not a probability distribution, the laws differ in size, a key is not a prefix, or is
            longer than the context.
        TypeError: exact and floating laws are mixed. Each error names the prefix it arose at.

    >>> table = Table({(): ["1/3", "2/3"], (0,): [1, 0], (1,): ["1/2", "1/2"]}, context=1)
    >>> table((0, 0, 1)).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """

    def __init__(
        self,
        rows: Mapping[tuple[int, ...], Any],
        context: int | None = None,
        default: Any = None,
        end: int | None = None,
    ) -> None:
        self.context = None if context is None else _context_length(context)
        self.default: Array | None = None if default is None else _frozen(default, "default")
        laws = {_key(prefix): _frozen(row, f"prefix {prefix}") for prefix, row in rows.items()}
        named = [(f"prefix {prefix}", row) for prefix, row in laws.items()]
        if self.default is not None:
            named.insert(0, ("default", self.default))
        if not named:
            raise ValueError("a table needs a row or a default; this one has neither")
        self.size: int = _common_size(named)
        self.end = None if end is None else _token(end, self.size, "end")
        for prefix in laws:
            check_prefix(prefix, self.size, self.end)
            if self.context is not None and len(prefix) > self.context:
                raise ValueError(
                    f"prefix {prefix} has {len(prefix)} tokens, but the table looks at the last {self.context} only; "
                    "shorten it, or raise the context"
                )
        self.rows = laws

    @classmethod
    def load(cls, path: str | Path) -> Table:
        """Read a table from a JSON file: {"rows": {"0 1": law, …}, "context": …, "default": …, "end": …}.

        A key of "rows" lists token indices with blanks between them ("" is the empty prefix). Masses written as
        strings ("1/3", "0.1") or as 0 and 1 are exact, numbers with a point are floats. All but "rows" may be left out.

        Raises:
            ValueError: the file is not JSON, a field is unknown, a key occurs twice or is not a prefix; and as in
                Table.
            TypeError: as in Table.
            OSError: the file cannot be read.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
            given = parsed(text)
            if not isinstance(given, dict) or not isinstance(cast("Any", given).get("rows"), dict):
                raise ValueError('a table is a JSON object with the field "rows", an object {prefix: probabilities}')
            fields = cast("dict[str, Any]", given)
            unknown = [field for field in fields if field not in _FIELDS]
            if unknown:
                raise ValueError(f"unknown fields {unknown}; a table has {', '.join(_FIELDS)}")
            rows: dict[tuple[int, ...], Any] = {}
            for written, row in fields["rows"].items():
                prefix = _parsed(written)
                if prefix in rows:
                    raise ValueError(f"prefix {prefix} occurs twice (again as {written!r})")
                rows[prefix] = row
            return cls(rows, fields.get("context"), fields.get("default"), fields.get("end"))
        except (ValueError, TypeError) as error:
            own = type(error) in (ValueError, TypeError)
            said = f"{path}: {error}" if own else f"{path} is not JSON: {error}"
            raise (type(error) if own else ValueError)(said) from error

    def __call__(self, prefix: Sequence[int]) -> Array:
        """Return the law [V] of the token that follows prefix.

        Raises:
            LookupError: there is neither a row for the prefix nor a default.
            ValueError: the prefix holds an index outside the vocabulary, or ends with `end`.
        """
        tokens = check_prefix(prefix, self.size, self.end)
        seen = tokens if self.context is None else tokens[max(0, len(tokens) - self.context) :]
        row = self.rows.get(seen, self.default)
        if row is None:
            looked = "" if seen == tokens else f" (looked up by its last {self.context} tokens, {seen})"
            raise LookupError(f"the table has no row for prefix {tokens}{looked}; add the row, or give a default")
        return row


def check_prefix(prefix: Sequence[int], size: int, end: int | None = None) -> tuple[int, ...]:
    """Return a prefix as a tuple of ints, after checking that its tokens are indices below `size`.

    Raises:
        TypeError: a token is not an int (a bool is refused).
        ValueError: a token is outside [0, size), or the prefix ends with `end`.

    >>> check_prefix([0, 2], 3)
    (0, 2)
    """
    # What is plainly an index is passed at once: to name each token of a long prefix would take longer than its law.
    tokens = tuple(
        token if type(token) is int and 0 <= token < size else _token(token, size, f"prefix {prefix!r}: token {at}")
        for at, token in enumerate(prefix)
    )
    if end is not None and tokens and tokens[-1] == end:
        raise ValueError(f"prefix {tokens} ends with the end token {end}, after which nothing follows")
    return tokens


def _token(value: Any, size: int, name: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an index (an int); got {value!r} of type {type(value).__name__}")
    index = int(value)
    if not 0 <= index < size:
        raise ValueError(f"{name} must be an index in [0, {size}); got {index}")
    return index


def _context_length(value: Any) -> int:
    return 0 if type(value) is int and value == 0 else count(value, "context")


def _key(prefix: Any) -> tuple[int, ...]:
    if not isinstance(prefix, tuple):
        raise TypeError(f"rows are keyed by tuples of token indices; got the key {prefix!r}")
    return cast("tuple[int, ...]", prefix)


def _frozen(row: Any, name: str) -> Array:
    """Check one row, and copy it so that no caller can change the table through it."""
    checked = named_law(row, name)
    if checked.ndim != 1:
        raise ValueError(f"{name}: a row is one distribution [V]; got the shape {tuple(checked.shape)}")
    if isinstance(checked, np.ndarray):
        checked = cast("Array", checked).copy()
        checked.flags.writeable = False
    return checked


def _common_size(named: list[tuple[str, Array]]) -> int:
    first_name, first = named[0]
    for name, row in named[1:]:
        if row.shape != first.shape:
            raise ValueError(f"all rows have one size; {first_name} has {first.shape[0]}, {name} has {row.shape[0]}")
        try:
            check_same_number_type(first, row)
        except TypeError as error:
            raise TypeError(f"{first_name} (target) against {name} (draft): {error}") from error
    return int(first.shape[0])


def _parsed(written: str) -> tuple[int, ...]:
    parts = written.split()
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f'prefix {written!r}: a key lists token indices with blanks between them, as "0 12 3"')
    return tuple(int(part) for part in parts)
