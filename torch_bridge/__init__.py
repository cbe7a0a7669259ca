"""Thin bridge to torch: logits through the same formulas, whole batches at a time, on any device."""

from torch_bridge.float_step import FloatStep, float_step
from torch_bridge.indexed_logits import indexed_logits
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import Options
from torch_bridge.randomness.source import explore
from torch_bridge.same_tokens import assert_same_tokens
from torch_bridge.subject import check_sampler
from torch_bridge.tree_layouts import chain_tree, tree_of_links, tree_of_paths
from torch_bridge.vectors import write_vectors
from torch_bridge.verify import verify_block, verify_token
from torch_bridge.verify_drafts import columns, verify_drafts
from torch_bridge.verify_tree import tree_columns, verify_tree

__all__ = [
    "FloatStep",
    "MappedLogits",
    "Options",
    "assert_same_tokens",
    "chain_tree",
    "check_sampler",
    "columns",
    "explore",
    "float_step",
    "indexed_logits",
    "tree_columns",
    "tree_of_links",
    "tree_of_paths",
    "verify_block",
    "verify_drafts",
    "verify_token",
    "verify_tree",
    "write_vectors",
]
