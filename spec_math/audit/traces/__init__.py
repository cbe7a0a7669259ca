"""Recorded speculative decoding: a file schema, a writer for engines, and a streaming audit of many shards."""

from spec_math.audit.traces.recorder import Engine, by_position, record
from spec_math.audit.traces.result import Evidence, ShardResult, Summary, merge
from spec_math.audit.traces.schema import TraceError, metadata
from spec_math.audit.traces.shard_audit import audit_shard
from spec_math.audit.traces.shard_file import open_shard
from spec_math.audit.traces.writer import write_shard

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
