"""Speculative-Decoding of romsto: a text of a fixed length, its samplers objects of their own, greedy by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_bridge.engines.engine import Defect, Edit, Engine, Options, Step
from torch_bridge.engines.source import Repository


def _run(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models()
    sampler = module.LogitsProcessor.__subclasses__()
    heat = step.options.temperature
    named = {one.__name__: one for one in sampler}
    chosen = named["MultinomialProcessor"](heat) if heat else named["GreedyProcessor"]()
    sizes = {"gamma": step.lookahead, "max_gen_len": step.lookahead + 1, "eos_tokens_id": 1 << 20}
    found, _ = module.speculative_generate(
        list(step.prompt), draft, target, logits_processor=chosen, first_target=False, **sizes
    )
    return found


ENGINES = (
    Engine(
        name="romsto",
        source=Repository("romsto/Speculative-Decoding"),
        module="sampling.speculative_decoding",
        function="speculative_generate",
        rule="chain",
        run=_run,
        control=Edit("max_fn(p[..., n, :] - q[0, n, :])", "max_fn(p[..., n, :])"),
        options=("temperature",),
        stubs=("termcolor", "rich"),
        defects=(
            Defect(
                "The greedy sampler, which is the default, takes the likeliest token, and what is compared are softmax "
                "masses.",
                (
                    Edit(
                        "return logits\n\n    def sample(self, probs: Tensor) -> Tensor:\n        return torch.argmax",
                        "return F.one_hot(logits.argmax(-1), logits.shape[-1]).float().log()\n\n"
                        "    def sample(self, probs: Tensor) -> Tensor:\n        return torch.argmax",
                        "utils.logits_processor",
                    ),
                ),
                Options(temperature=0.0),
            ),
        ),
    ),
)
