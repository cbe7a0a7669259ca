"""Recorded speculative decoding: a file schema, a writer for engines, and a streaming audit of many shards."""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.traces.recorder import Engine as Engine
    from spec_math.traces.recorder import by_position as by_position
    from spec_math.traces.recorder import record as record
    from spec_math.traces.result import Evidence as Evidence
    from spec_math.traces.result import ShardResult as ShardResult
    from spec_math.traces.result import Summary as Summary
    from spec_math.traces.result import merge as merge
    from spec_math.traces.schema import TraceError as TraceError
    from spec_math.traces.schema import metadata as metadata
    from spec_math.traces.shard_audit import audit_shard as audit_shard
    from spec_math.traces.shard_file import open_shard as open_shard
    from spec_math.traces.shard_file import write_shard as write_shard

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "spec_math.traces.recorder": ("Engine", "by_position", "record"),
        "spec_math.traces.result": ("Evidence", "ShardResult", "Summary", "merge"),
        "spec_math.traces.schema": ("TraceError", "metadata"),
        "spec_math.traces.shard_audit": ("audit_shard",),
        "spec_math.traces.shard_file": ("open_shard", "write_shard"),
    },
)
