"""Recorded speculative decoding: a file schema, a writer for engines, and a streaming audit of many shards."""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.traces.recorder import Engine, by_position, record
    from spec_math.traces.result import Evidence, ShardResult, Summary, merge
    from spec_math.traces.schema import TraceError, metadata
    from spec_math.traces.shard_audit import audit_shard
    from spec_math.traces.shard_file import open_shard, write_shard

__getattr__ = lazily(
    __name__,
    {
        "spec_math.traces.recorder": ("Engine", "by_position", "record"),
        "spec_math.traces.result": ("Evidence", "ShardResult", "Summary", "merge"),
        "spec_math.traces.schema": ("TraceError", "metadata"),
        "spec_math.traces.shard_audit": ("audit_shard",),
        "spec_math.traces.shard_file": ("open_shard", "write_shard"),
    },
)

__all__ = [
    "Engine",
    "Evidence",
    "ShardResult",
    "Summary",
    "TraceError",
    "audit_shard",
    "by_position",
    "merge",
    "metadata",
    "open_shard",
    "record",
    "write_shard",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
