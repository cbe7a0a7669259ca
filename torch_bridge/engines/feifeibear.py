"""LLMSpeculativeSampling of feifeibear: the loop with key-value caches, and the one without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spec_math.language.model import Model
from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.toy_models import table_models


def _shifted(model: Model) -> Model:
    """A law on one token more, which it never has: token 0, at which the sampler raises."""
    return lambda text: [0.0, *model(tuple(token - 1 for token in text))]


def _runs(name: str) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        prompt = [token + 1 for token in step.prompt]
        target, draft = table_models(_shifted(step.target), _shifted(step.draft), prompt[:3])
        heat, ids = step.options.temperature, step.ids() + 1
        found = getattr(module, name)(ids, draft, target, 1, step.lookahead, temperature=heat)
        return [token - 1 for token in found[0, len(prompt) :].tolist()]

    return run


def _engine(name: str, function: str, old: str) -> Engine:
    return Engine(
        name,
        None,
        "sampling.speculative_sampling",
        function,
        "chain",
        _runs(function),
        Edit(old, "p[:, 0, :] - 0" if "p[" in old else "target_model_cache._prob_history[:, n, :]"),
        ("temperature > 0",),
        repository="feifeibear/LLMSpeculativeSampling",
    )


CACHED = "target_model_cache._prob_history[:, n, :] - approx_model_cache._prob_history[:, n, :]"
ENGINES = (_engine("feifeibear", "speculative_sampling", CACHED),)
