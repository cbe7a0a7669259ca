"""Thin bridge to torch: logits through the same formulas, whole batches at a time, on any device."""

from torch_bridge.explore import explore
from torch_bridge.float_step import FloatStep, float_step
from torch_bridge.indexed_logits import indexed_logits
from torch_bridge.options import Options
from torch_bridge.same_tokens import assert_same_tokens
from torch_bridge.subject import check_sampler
from torch_bridge.vectors import write_vectors
from torch_bridge.verify import verify_block, verify_token
from torch_bridge.verify_plan import verify_plan

__all__ = [
    "FloatStep",
    "Options",
    "assert_same_tokens",
    "check_sampler",
    "explore",
    "float_step",
    "indexed_logits",
    "verify_block",
    "verify_plan",
    "verify_token",
    "write_vectors",
]
