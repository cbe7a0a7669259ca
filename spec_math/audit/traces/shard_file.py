"""Shards as files, read as a stream: the integer columns whole, the logits a few rows at a time, in float32.

A safetensors file is read with plain reads into one piece of memory: pages of a mapped file that were looked at stay in
memory until the map is closed, and a shard may be larger than memory.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from spec_math.audit.traces.logit_types import as_float32, stored_type
from spec_math.audit.traces.schema import INTEGERS, Header, Ids, TraceError, check_ids, header

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
    if place.suffix == ".parquet":
        from spec_math.audit.traces import parquet_file

        found, ids, chunks = parquet_file.opened(place)
    else:
        found, ids, chunks = _opened(place)
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
    return found, ids, lambda: _rows(path, found, places)


def _laws(found: Header) -> tuple[str, ...]:
    return ("target_logits", "draft_logits") if found.has_draft else ("target_logits",)


def _rows(path: Path, found: Header, places: list[int]) -> Chunks:
    rows = chunk_rows(found.size)
    stored = [np.empty((rows, found.size), dtype=stored_type(found.dtype)) for _ in places]
    shown = [np.empty((rows, found.size), dtype=np.float32) for _ in places]
    none = np.empty((0, found.size), dtype=np.float32)
    with path.open("rb", buffering=0) as file:
        for first in range(0, found.rows, rows):
            taken = min(rows, found.rows - first)
            laws: list[np.ndarray[Any, Any]] = []
            for place, held, into in zip(places, stored, shown, strict=True):
                file.seek(place + first * found.size * held.itemsize)
                _fill(file, held[:taken], path)
                laws.append(as_float32(held[:taken], found.dtype, into))
            yield laws[0], laws[1] if found.has_draft else none


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
