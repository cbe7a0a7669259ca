"""LLMSpeculativeSampling of feifeibear: the loop with key-value caches, and the one without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spec_math.language.model import Model
from torch_bridge.engines.engine import PROMPT, Defect, Edit, Engine, Step
from torch_bridge.toy_models import table_models


def _shifted(model: Model) -> Model:
    """A law on one token more, which it never has: token 0, at which the sampler raises."""
    return lambda text: [0.0, *model(tuple(token - 1 for token in text))]


def _runs(name: str, seeded: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        seed = 1 + len(step.text) if seeded else None  # another one for each call: a text is made by one call
        prompt = [token + 1 for token in step.prompt]
        target, draft = table_models(_shifted(step.target), _shifted(step.draft), prompt[: len(PROMPT)])
        heat, ids = step.options.temperature, step.ids() + 1
        found = getattr(module, name)(ids, draft, target, 1, step.lookahead, temperature=heat, random_seed=seed)
        return [token - 1 for token in found[0, len(prompt) :].tolist()]

    return run


SEED = Defect(
    "With random_seed the generator is seeded anew before every coin: all drafts of a text are tested with one coin.",
    (
        Edit(
            "            if random_seed:\n                torch.manual_seed(random_seed)\n"
            "            r = torch.rand(1, device = device)",
            "            r = torch.rand(1, device = device)",
        ),
        Edit(
            "    resample_count = 0\n",
            "    if random_seed:\n        torch.manual_seed(random_seed)\n    resample_count = 0\n",
        ),
    ),
    lookahead=2,
)


def _engine(name: str, function: str, seeded: bool = False) -> Engine:
    return Engine(
        name,
        None,
        "sampling.speculative_sampling",
        function,
        "chain",
        _runs(function, seeded),
        Edit(CACHED, "target_model_cache._prob_history[:, n, :]"),
        () if seeded else ("temperature > 0",),
        repository="feifeibear/LLMSpeculativeSampling",
        defects=(SEED,) if seeded else (),
    )


CACHED = "target_model_cache._prob_history[:, n, :] - approx_model_cache._prob_history[:, n, :]"
ENGINES = (
    _engine("feifeibear", "speculative_sampling"),
    _engine("feifeibear with a seed", "speculative_sampling", seeded=True),
)
