"""Shards in Parquet, read a batch of rows at a time.

A row of logits is a value of V·size bytes whose type the metadata `logits` names, as `write_shard` writes it; or a list
of fixed length V, as others may, which Parquet takes apart number by number: five times as slow to read. Memory holds a
page of each law: `write_shard` makes them small, and so should others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.audit.traces.logit_types import as_float32, stored_type
from spec_math.audit.traces.schema import INTEGERS, LOGITS, Header, Ids, TraceError, header

BATCH = 2**22
"""Bytes of float32 of one law in a batch: smaller ones cost more in calls than they save in memory."""

_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet, or say how to get them.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.

    >>> import importlib.util
    >>> importlib.util.find_spec("pyarrow") is None or arrow()[1].__name__ == "pyarrow.parquet"
    True
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ModuleNotFoundError(
            "Parquet shards are read with pyarrow, which is not installed; install the extra: "
            "pip install 'spec_math[traces]', or write .safetensors shards"
        ) from error
    return pyarrow, pyarrow.parquet


def opened(path: Path) -> tuple[Header, Ids, Callable[[], Iterator[tuple[Any, Any]]]]:
    """Return a Parquet shard's header, its integer columns, and the stream of its logits.

    Raises:
        TraceError: it is not a trace, or truncated.
        ModuleNotFoundError: pyarrow is not installed.
    """
    pyarrow, parquet = arrow()
    try:
        file = parquet.ParquetFile(path)
    except pyarrow.ArrowException as error:
        raise TraceError(f"{path}: truncated or no Parquet file ({error}); write it anew") from error
    with file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        notes = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items() if b"ARROW" not in key}
        shapes = {field.name: _shape(field.type, rows, notes.get("logits", ""), pyarrow) for field in schema}
        found = header(shapes, notes, str(path))
        table = file.read(columns=list(INTEGERS))
        ids = {name: _integers(table.column(name), name, path) for name in INTEGERS}
    return found, ids, lambda: _batches(path, found)


def as_bytes(rows: np.ndarray[Any, Any]) -> Any:
    """Return rows [n, V] of any type as an Arrow array of n values of bytes, without a copy.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.

    >>> import importlib.util
    >>> importlib.util.find_spec("pyarrow") is None or len(as_bytes(np.zeros((3, 2)))) == 3
    True
    """
    pyarrow, _ = arrow()
    width = rows.shape[1] * rows.itemsize
    held = pyarrow.py_buffer(rows.view(np.uint8))
    return pyarrow.FixedSizeBinaryArray.from_buffers(pyarrow.binary(width), len(rows), [None, held])


def _shape(kind: Any, rows: int, logits: str, pyarrow: Any) -> tuple[str, list[int]]:
    if pyarrow.types.is_fixed_size_binary(kind) and logits in LOGITS:
        return logits, [rows, kind.byte_width // stored_type(logits).itemsize]
    if pyarrow.types.is_fixed_size_list(kind):
        return _NAMES.get(str(kind.value_type), str(kind.value_type)), [rows, kind.list_size]
    return _NAMES.get(str(kind), str(kind)), [rows]


def _integers(column: Any, name: str, path: Path) -> np.ndarray[Any, Any]:
    if column.null_count:
        raise TraceError(f"{path}: {name} has {column.null_count} empty cells; every row has all columns")
    return column.to_numpy()


def _batches(path: Path, found: Header) -> Iterator[tuple[Any, Any]]:
    pyarrow, parquet = arrow()
    names = ["target_logits", "draft_logits"] if found.has_draft else ["target_logits"]
    rows = max(1, BATCH // (4 * found.size))
    shown = [np.empty((rows, found.size), dtype=np.float32) for _ in names]
    none = np.empty((0, found.size), dtype=np.float32)
    try:
        # Without a buffer of its own a whole group of rows would be read at once, however large it was written.
        with parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            # One thread: shards are what runs side by side.
            for batch in file.iter_batches(batch_size=rows, columns=names, use_threads=False):
                laws = [
                    as_float32(_law(batch.column(name), found, path), found.dtype, into)
                    for name, into in zip(names, shown, strict=True)
                ]
                yield laws[0], laws[1] if found.has_draft else none
    except pyarrow.ArrowException as error:
        raise TraceError(f"{path}: broken pages ({error}); write it anew") from error


def _law(column: Any, found: Header, path: Path) -> np.ndarray[Any, Any]:
    rows, size = len(column), found.size
    if column.null_count:
        raise TraceError(f"{path}: a row of logits is empty; every row has V = {size} logits")
    if hasattr(column, "flatten"):
        values = column.flatten()
        if values.null_count:
            raise TraceError(f"{path}: a logit is empty; write −inf for a token without mass")
        return values.to_numpy(zero_copy_only=True).reshape(rows, size)
    dtype = stored_type(found.dtype)
    first = column.offset * size * dtype.itemsize
    return np.frombuffer(column.buffers()[1], dtype=dtype, count=rows * size, offset=first).reshape(rows, size)
