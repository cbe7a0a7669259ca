"""lmdeploy: the sampler above its verification, with what a request asks for, in a batch of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from spec_math.pathwise.loading import Loading, load_module
from spec_math.pathwise.places import paused
from torch_bridge.engines.engine import Defect, Edit, Engine, Options, Step
from torch_bridge.engines.lmdeploy import ABSENT, ARCHIVE, MODULE


def _drawn(scores: torch.Tensor, _seeds: Any, _offsets: Any, indices: torch.Tensor) -> torch.Tensor:
    return indices.gather(1, torch.multinomial(scores, 1))[:, 0]


def _verification(module: Any) -> Any:
    """Return the verification of the default backend, out of the same package, and let drawing be torch's own."""
    if not hasattr(module, "verification"):
        root = Path(module.__file__).parents[3]
        with paused():  # what is imported draws from what is real
            module.verification = load_module(root, MODULE, Loading(ABSENT)).DefaultRejectionSamplingImpl()
        module.FusedLogitsProcessor.__init__.__globals__["_multinomial_sampling"] = _drawn
    return module.verification


def _runs(greedy: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        options, many, drafts = step.options, step.lookahead, step.drafted()
        heat = 1.0 if options.temperature == 0 else options.temperature
        size = len(step.target(step.text))
        sure = torch.eye(size)[[0] * (many + 1)].log()
        target = torch.stack([step.rows(step.target, drafts) / heat, sure])
        first = [1 if options.temperature == 0 else options.top_k or 0] * (many + 1)
        kept = torch.tensor(first + [1 if greedy else 0] * (many + 1))
        sampling = module.SamplingInputs(
            top_k=kept,
            top_p=torch.tensor([options.top_p or 1.0] * len(kept)),
            max_top_k=0 if 0 in kept else int(kept.max()),
            has_greedy=bool((kept == 1).any()),
            batch_size=len(kept),
        )
        sampler = object.__new__(module.RejectionSampler)
        torch.nn.Module.__init__(sampler)
        sampler._impl = _verification(module)
        found, _, _ = sampler(target, torch.tensor([drafts, [0] * many]), sampling)
        return [token for token in found[0].tolist() if token >= 0]

    return run


FILTERS = Defect(
    "top_k, top_p and min_p are applied where the bonus token is drawn, and not to the laws that drafts are verified "
    "against.",
    (
        Edit(
            "target_draft_logits = target_logits[:, :-1].contiguous()",
            "target_draft_logits = _filtered(target_logits, expanded_sampling_inputs)[:, :-1].contiguous()",
        ),
        Edit(
            "class RejectionSampler(nn.Module):",
            "def _filtered(logits, inputs):\n"
            "    own = FusedLogitsProcessor.__init__.__globals__\n"
            "    scores, order = logits.flatten(0, 1).sort(1, descending=True)\n"
            "    top_k = inputs.top_k.masked_fill(inputs.top_k <= 0, scores.size(1))\n"
            "    scores = own['_filter_topk_sorted_'](scores, top_k)\n"
            "    scores = own['_filter_topp_sorted_'](scores, inputs.top_p)\n"
            "    return scores.gather(1, order.argsort(1)).view_as(logits)\n\n\n"
            "class RejectionSampler(nn.Module):",
        ),
    ),
    Options(top_p=0.8),
)
GIVEN: dict[str, dict[str, Any]] = {
    "lmdeploy.messages": {},
    "lmdeploy.pytorch.envs": {},
    "lmdeploy.pytorch.messages": {},
    "lmdeploy.pytorch.engine.engine": {"Engine": None},
    "lmdeploy.pytorch.engine.engine_instance": {"EngineInstance": None},
    "lmdeploy.pytorch.engine.guided_process": {},
    "lmdeploy.pytorch.backends": {},
}


def _engine(name: str, greedy: bool) -> Engine:
    return Engine(
        name=name,
        source=ARCHIVE,
        module="lmdeploy.pytorch.spec_decode.reject_sampler",
        function="RejectionSampler.forward",
        rule="one-hot",
        run=_runs(greedy),
        control=Edit("bonus_logits = target_logits[:, -1]", "bonus_logits = target_logits[:, 0]"),
        options=("temperature", "top_k", "top_p"),
        given=GIVEN,
        defects=(FILTERS,),
        most=2,
    )


ENGINES = (_engine("lmdeploy sampler", False), _engine("lmdeploy sampler beside a greedy request", True))
