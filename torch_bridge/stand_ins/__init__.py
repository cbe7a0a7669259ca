"""What stands for parts of other libraries where samplers are judged: as much of them as the samplers use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

VLLM = {"GREEDY_TEMPERATURE": 0, "MAX_SPEC_LEN": 128, "PLACEHOLDER_TOKEN_ID": -1}


def given(packages: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return, by module, the names that stand in for packages and compute what those would: jax, einops, parts of vllm.

    >>> sorted(given(["einops", "triton"]))
    ['einops']
    """
    found: dict[str, Mapping[str, Any]] = {}
    if "jax" in packages:
        from torch_bridge.stand_ins.jax import GIVEN

        found |= GIVEN
    if "einops" in packages:
        from torch_bridge.stand_ins.rearranged import rearrange

        found["einops"] = {"rearrange": rearrange}
    if "vllm" in packages:
        from torch_bridge.stand_ins.unpinned import uniform_probs

        found["vllm.triton_utils"] = {"HAS_TRITON": False}
        found["vllm.v1.sample.rejection_sampler"] = {**VLLM, "generate_uniform_probs": uniform_probs}
    return found


__all__ = ["given"]
