"""Writing a shard: what an engine calls, once for every few thousand tokens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from spec_math.audit.traces import parquet_file
from spec_math.audit.traces.logit_types import type_name
from spec_math.audit.traces.schema import INTEGERS, TraceError, check_ids, header, metadata
from spec_math.audit.traces.shard_file import ENDINGS
from spec_math.files.whole import replaced


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
    found = header({name: (type_name(a), a.shape) for name, a in arrays.items()}, notes, str(target))
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
    pyarrow, parquet = parquet_file.arrow()
    columns = {name: pyarrow.array(a) if a.ndim == 1 else parquet_file.as_bytes(a) for name, a in arrays.items()}
    # Logits do not repeat, so dictionaries and compression only cost time; groups of rows are what a reader holds.
    rows = max(1, parquet_file.BATCH // (4 * arrays["target_logits"].shape[1]))
    said = {**notes, "logits": type_name(arrays["target_logits"])}
    table = pyarrow.table(columns).replace_schema_metadata(said)
    parquet.write_table(
        table, path, row_group_size=rows, use_dictionary=False, compression="none", write_statistics=False
    )
