"""LLMSpeculativeSampling of feifeibear: the loop with key-value caches, and the one without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spec_math.language.model import Model
from torch_bridge.engines.engine import PROMPT, Defect, Edit, Engine, Step
from torch_bridge.engines.source import Repository
from torch_bridge.toy_models import table_models


def _shifted(model: Model) -> Model:
    """A law on one token more, which it never has: token 0, at which the sampler raises."""
    return lambda text: [0.0, *model(tuple(token - 1 for token in text))]


def _runs(name: str, seeded: bool, first: int = 1) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        seed = 1 + len(step.text) if seeded else None  # another one for each call: a text is made by one call
        prompt = [token + first for token in step.prompt]
        models = [_shifted(model) if first else model for model in (step.target, step.draft)]
        target, draft = table_models(models[0], models[1], prompt[: len(PROMPT)])
        heat, ids = step.options.temperature, step.ids() + first
        found = getattr(module, name)(ids, draft, target, 1, step.lookahead, temperature=heat, random_seed=seed)
        return [token - first for token in found[0, len(prompt) :].tolist()]

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


ZERO = Defect(
    "Where token 0 is drawn the sampler raises, as if it could not occur.",
    (
        Edit(
            "    if (idx_next.item() == 0):\n        raise RuntimeError\n",
            "",
            "sampling.utils",
        ),
    ),
)


def _engine(name: str, function: str, seeded: bool = False, first: int = 1) -> Engine:
    return Engine(
        name,
        Repository("feifeibear/LLMSpeculativeSampling"),
        "sampling.speculative_sampling",
        function,
        "chain",
        _runs(function, seeded, first),
        Edit(CACHED, "target_model_cache._prob_history[:, n, :]"),
        () if seeded or not first else ("temperature > 0",),
        defects=(SEED,) if seeded else () if first else (ZERO,),
    )


CACHED = "target_model_cache._prob_history[:, n, :] - approx_model_cache._prob_history[:, n, :]"
ENGINES = (
    _engine("feifeibear", "speculative_sampling"),
    _engine("feifeibear with a seed", "speculative_sampling", seeded=True),
    _engine("feifeibear token 0", "speculative_sampling", first=0),
)
