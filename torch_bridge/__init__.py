"""Thin bridge to torch: logits through the same formulas, whole batches at a time, on any device."""

from typing import TYPE_CHECKING

from spec_math.lazy import face

# Read at once: the module has the function's name, and would take its place.
from torch_bridge.randomness.source import explore as explore

if TYPE_CHECKING:
    from torch_bridge.float_rounding import FloatStep as FloatStep
    from torch_bridge.float_rounding import float_step as float_step
    from torch_bridge.mapped_logits import MappedLogits as MappedLogits
    from torch_bridge.mapped_logits import indexed_logits as indexed_logits
    from torch_bridge.options import Options as Options
    from torch_bridge.subject import check_sampler as check_sampler
    from torch_bridge.threshold import assert_same_tokens as assert_same_tokens
    from torch_bridge.tree_layouts import chain_tree as chain_tree
    from torch_bridge.tree_layouts import tree_of_links as tree_of_links
    from torch_bridge.tree_layouts import tree_of_paths as tree_of_paths
    from torch_bridge.tree_validation import tree_columns as tree_columns
    from torch_bridge.validation import columns as columns
    from torch_bridge.vectors import write_vectors as write_vectors
    from torch_bridge.verify import verify_block as verify_block
    from torch_bridge.verify import verify_drafts as verify_drafts
    from torch_bridge.verify import verify_token as verify_token
    from torch_bridge.verify import verify_tree as verify_tree

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "torch_bridge.float_rounding": ("FloatStep", "float_step"),
        "torch_bridge.mapped_logits": ("MappedLogits", "indexed_logits"),
        "torch_bridge.options": ("Options",),
        "torch_bridge.randomness.source": ("explore",),
        "torch_bridge.subject": ("check_sampler",),
        "torch_bridge.threshold": ("assert_same_tokens",),
        "torch_bridge.tree_layouts": ("chain_tree", "tree_of_links", "tree_of_paths"),
        "torch_bridge.vectors": ("write_vectors",),
        "torch_bridge.tree_validation": ("tree_columns",),
        "torch_bridge.validation": ("columns",),
        "torch_bridge.verify": ("verify_block", "verify_drafts", "verify_token", "verify_tree"),
    },
)
