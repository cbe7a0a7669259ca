"""Thin bridge to torch: logits through the same formulas, whole batches at a time, on any device."""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

# Read at once: the module has the function's name, and would take its place.
from torch_bridge.randomness.source import explore

if TYPE_CHECKING:
    from torch_bridge.float_rounding import FloatStep, float_step
    from torch_bridge.mapped_logits import MappedLogits, indexed_logits
    from torch_bridge.options import Options
    from torch_bridge.subject import check_sampler
    from torch_bridge.threshold import assert_same_tokens
    from torch_bridge.tree_layouts import chain_tree, tree_of_links, tree_of_paths
    from torch_bridge.tree_validation import tree_columns
    from torch_bridge.validation import columns
    from torch_bridge.vectors import write_vectors
    from torch_bridge.verify import verify_block, verify_drafts, verify_token, verify_tree

__getattr__ = lazily(
    __name__,
    {
        "torch_bridge.float_rounding": ("FloatStep", "float_step"),
        "torch_bridge.mapped_logits": ("MappedLogits", "indexed_logits"),
        "torch_bridge.options": ("Options",),
        "torch_bridge.subject": ("check_sampler",),
        "torch_bridge.threshold": ("assert_same_tokens",),
        "torch_bridge.tree_layouts": ("chain_tree", "tree_of_links", "tree_of_paths"),
        "torch_bridge.vectors": ("write_vectors",),
        "torch_bridge.tree_validation": ("tree_columns",),
        "torch_bridge.validation": ("columns",),
        "torch_bridge.verify": ("verify_block", "verify_drafts", "verify_token", "verify_tree"),
    },
)

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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
