"""transformers: its verification step for drafts that are reported with their laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive

BESIDE = (
    *("cache_utils", "configuration_utils", "distributed.fsdp", "distributed.tensor_parallel", "distributed.utils"),
    *("dynamic_module_utils", "integrations.deepspeed", "masking_utils", "pytorch_utils", "tokenization_python"),
    *("utils", "utils.generic", "generation.candidate_generator", "generation.configuration_utils"),
    *("generation.continuous_batching", "generation.logits_process", "generation.stopping_criteria"),
)
"""Modules that the file imports, and that the step does not use."""


def emitted(
    verify: Callable[..., Any], drafts: torch.Tensor, target: torch.Tensor, draft: torch.Tensor, weight: Any = None
) -> tuple[int, ...]:
    """Run one step on drafts [L] and logits [L + 1, V] and [L, V]; `weight` is its assistant_ensemble_weight.

    >>> emitted(lambda ids, *_, **how: (ids[:, 1:], 1), torch.tensor([2]), torch.zeros(2, 3), torch.zeros(1, 3))
    (2,)
    """
    ids = torch.cat([torch.zeros(1, dtype=torch.long), drafts])[None]
    found, _ = verify(ids, draft[None], len(drafts), target[None], assistant_ensemble_weight=weight)
    return tuple(found[0].tolist())


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    rows = step.rows(step.target, drafts), step.rows(step.draft, drafts)[:-1]
    return emitted(module._speculative_sampling, torch.tensor(drafts), *rows)


ENGINES = (
    Engine(
        name="transformers",
        source=Archive(
            "transformers",
            "5.23.0",
            "transformers-5.23.0-py3-none-any.whl",
            "018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf",
        ),
        module="transformers.generation.utils",
        function="_speculative_sampling",
        rule="chain",
        run=_run,
        control=Edit("torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)", "p_n_plus_1.clone()"),
        stubs=tuple(f"transformers.{name}" for name in BESIDE),
    ),
)
