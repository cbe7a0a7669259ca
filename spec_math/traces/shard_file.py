"""Shards as files, read as a stream: the integer columns whole, the logits a few rows at a time, in float32.

A safetensors file is read with plain reads into one piece of memory: pages of a mapped file that were looked at stay in
memory until the map is closed, and a shard may be larger than memory.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, cast

import numpy as np
from safetensors.numpy import save_file

from spec_math.files.whole import replaced
from spec_math.traces.schema import (
    INTEGERS,
    LOGITS,
    Header,
    Ids,
    TraceError,
    as_float32,
    check_ids,
    header,
    metadata,
    stored_type,
)

CHUNK = 2**20
"""Bytes of float32 of one law that are read at once: what stays in a processor's own cache."""

ENDINGS = (".safetensors", ".parquet")

Chunks = Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]

_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"} | {
    f"{kind}{bits}": f"{'u' * (kind == 'U')}int{bits}" for kind in "IU" for bits in (8, 16, 32, 64)
}


@dataclass(frozen=True)
class Shard:
    """An opened shard: its header, its integer columns, and a way to stream its logits.

    `chunks()` yields (targets, drafts), float32 [m, V], in order; they are overwritten by the next ones. Without draft
    logits `drafts` is [0, V].
    """

    path: Path
    header: Header
    ids: Ids
    chunks: Callable[[], Chunks]


def open_shard(path: str | Path) -> Shard:
    """Open a shard and check everything but its logits: schema, columns, length of the file, blocks.

    Raises:
        TraceError: it is not a trace, of another version, truncated, or its rows form no blocks.
        OSError: it cannot be read; another try may help.
    """
    place = Path(path)
    if place.suffix not in ENDINGS:
        raise TraceError(f"{place}: shards are {' and '.join(ENDINGS)} files, not {place.suffix or 'a bare name'!r}")
    found, ids, chunks = (opened if place.suffix == ".parquet" else _opened)(place)
    for name in INTEGERS:
        if ids[name].dtype == np.uint64:
            raise TraceError(f"{place}: {name} is stored as uint64; write int64, so that −1 can be said")
    ids = {name: ids[name].astype(np.int64) for name in INTEGERS}
    check_ids(ids, found, str(place))
    return Shard(place, found, ids, chunks)


def chunk_rows(size: int) -> int:
    """Return how many rows of V = `size` logits are read at once.

    >>> chunk_rows(32_768)
    8
    """
    return max(1, CHUNK // (4 * size))


def _opened(path: Path) -> tuple[Header, Ids, Callable[[], Chunks]]:
    entries, notes, start = _safetensors_header(path)
    shapes = {
        name: (_TYPES.get(str(entry["dtype"]), str(entry["dtype"])), entry["shape"]) for name, entry in entries.items()
    }
    found = header(shapes, notes, str(path))
    with path.open("rb") as file:
        ids: Ids = {}
        for name in INTEGERS:
            dtype = np.dtype(shapes[name][0])
            file.seek(start + entries[name]["data_offsets"][0])
            ids[name] = np.fromfile(file, dtype=dtype, count=found.rows)
    places = [start + entries[name]["data_offsets"][0] for name in _laws(found)]
    return found, ids, lambda: _shown(found, chunk_rows(found.size), _rows(path, found, places))


def _laws(found: Header) -> tuple[str, ...]:
    return ("target_logits", "draft_logits") if found.has_draft else ("target_logits",)


def _shown(found: Header, rows: int, stored: Iterator[list[np.ndarray[Any, Any]]]) -> Chunks:
    """Yield logits of target and draft as float32, of their rows as stored, at most so many at a time."""
    shown = [np.empty((rows, found.size), dtype=np.float32) for _ in _laws(found)]
    none = np.empty((0, found.size), dtype=np.float32)
    for held in stored:
        laws = [as_float32(law, found.dtype, into) for law, into in zip(held, shown, strict=True)]
        yield laws[0], laws[1] if found.has_draft else none


def _rows(path: Path, found: Header, places: list[int]) -> Iterator[list[np.ndarray[Any, Any]]]:
    rows = chunk_rows(found.size)
    stored = [np.empty((rows, found.size), dtype=stored_type(found.dtype)) for _ in places]
    with path.open("rb", buffering=0) as file:
        for first in range(0, found.rows, rows):
            taken = min(rows, found.rows - first)
            for place, held in zip(places, stored, strict=True):
                file.seek(place + first * found.size * held.itemsize)
                _fill(file, held[:taken], path)
            yield [held[:taken] for held in stored]


def _fill(file: FileIO, held: np.ndarray[Any, Any], path: Path) -> None:
    left = memoryview(cast(Any, held)).cast("B")
    while len(left):
        taken = file.readinto(left)
        if not taken:
            raise TraceError(f"{path}: truncated while it was read, {len(left)} bytes are missing; write it anew")
        left = left[taken:]


def _safetensors_header(path: Path) -> tuple[dict[str, Any], dict[str, str], int]:
    """Read the 8 bytes of length and the JSON after them; data offsets count from where the JSON ends."""
    length = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(8)
        if len(first) < 8:
            raise TraceError(f"{path}: truncated: a safetensors file has at least 8 bytes, this has {len(first)}")
        size = struct.unpack("<Q", first)[0]
        if size > length - 8:
            raise TraceError(f"{path}: truncated or no safetensors file: its header would have {size} bytes")
        try:
            content = json.loads(file.read(size))
            notes = content.pop("__metadata__", {})
            last = max((entry["data_offsets"][1] for entry in content.values()), default=0)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise TraceError(f"{path}: unreadable header ({error}); write it anew") from error
    if 8 + size + last > length:
        raise TraceError(
            f"{path}: truncated: its header announces {8 + size + last:,} bytes, and it has {length:,}; write it anew"
        )
    return content, notes, 8 + size


def write_shard(
    path: str | Path, columns: Mapping[str, Any], lookahead: int, verification: str = "maximal coupling"
) -> Path:
    """Write columns (see `schema`) as a shard, whole or not at all; .safetensors or .parquet by the name's ending.

    columns: arrays target_logits [n, V], draft_logits [n, V] (left out for one-hot drafts), drafted, emitted, accepted,
    request, position, depth [n]. Tokens are indices, −1 in `drafted` where none was.

    Raises:
        TraceError: the columns are not a trace; the file is not written.

    >>> import tempfile
    >>> columns = {name: np.zeros(1, np.int64) for name in INTEGERS} | {"target_logits": np.zeros((1, 3), np.float32)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_shard(Path(folder) / "a.safetensors", columns, lookahead=4, verification="one-hot draft").name
    'a.safetensors'
    """
    target = Path(path)
    arrays = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    notes = metadata(lookahead, verification)
    found = header({name: (a.dtype.name, a.shape) for name, a in arrays.items()}, notes, str(target))
    check_ids({name: arrays[name].astype(np.int64) for name in INTEGERS}, found, str(target))
    if target.suffix not in ENDINGS:
        raise TraceError(f"{target}: shards are {' and '.join(ENDINGS)} files, not {target.suffix or 'a bare name'!r}")
    with replaced(target) as partial:
        if target.suffix == ".safetensors":
            save_file(arrays, partial, metadata=notes)
        else:
            _write_parquet(partial, arrays, notes)
    return target


def _write_parquet(path: Path, arrays: Mapping[str, Any], notes: Mapping[str, str]) -> None:
    pyarrow, parquet = arrow()
    columns = {name: pyarrow.array(a) if a.ndim == 1 else as_bytes(a) for name, a in arrays.items()}
    # Logits do not repeat, so dictionaries and compression only cost time; groups of rows are what a reader holds.
    rows = max(1, BATCH // (4 * arrays["target_logits"].shape[1]))
    said = {**notes, "logits": arrays["target_logits"].dtype.name}
    table = pyarrow.table(columns).replace_schema_metadata(said)
    parquet.write_table(
        table, path, row_group_size=rows, use_dictionary=False, compression="none", write_statistics=False
    )


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
    rows_at_once = max(1, BATCH // (4 * found.size))
    return found, ids, lambda: _shown(found, rows_at_once, _batches(path, found, rows_at_once))


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


def _batches(path: Path, found: Header, rows: int) -> Iterator[list[np.ndarray[Any, Any]]]:
    pyarrow, parquet = arrow()
    names = list(_laws(found))
    try:
        # Without a buffer of its own a whole group of rows would be read at once, however large it was written.
        with parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            # One thread: shards are what runs side by side.
            for batch in file.iter_batches(batch_size=rows, columns=names, use_threads=False):
                yield [_law(batch.column(name), found, path) for name in names]
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
