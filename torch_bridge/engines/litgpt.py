"""litgpt: speculative decoding with models that keep their cache inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Options, Step
from torch_bridge.engines.source import Archive


def _run(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models("tensor")
    last = len(step.prompt) - 1
    for model in (target, draft):
        model(step.ids(), input_pos=torch.arange(last + 1))
    sampling = {
        "temperature": step.options.temperature,
        "top_k": step.options.top_k,
        "top_p": step.options.top_p or 1.0,
    }
    token, place = step.ids()[0, -1:], torch.tensor([last])
    return module.speculative_decoding(draft, target, token, place, last + 1, step.lookahead, **sampling).tolist()


def _text(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models("tensor")
    for model in (target, draft):  # the prompt is read once with its places not named
        model(step.ids(), input_pos=torch.arange(len(step.prompt)))
    length = len(step.prompt) + step.lookahead + 1
    lengths = {"max_returned_tokens": length, "speculative_k": step.lookahead}
    return module.generate(draft, target, step.ids()[0], **lengths, include_prompt=False)[0].tolist()


ARCHIVE = Archive(
    "litgpt",
    "0.5.13",
    "litgpt-0.5.13-py3-none-any.whl",
    "da044b76c52cd44fc0564f6177ed6cf186dde24f711ce8e71e1fd9e9da5f02b2",
)
MODULE = "litgpt.generate.speculative_decoding"
STUBS = ("lightning", "lightning_utilities", "jsonargparse", "safetensors")
CONTROL = Edit("torch.clamp(adjusted_distribution, 0.0)", "torch.clamp(target_probs[idx], 0.0)")
ENGINES = (
    Engine(
        name="litgpt",
        source=ARCHIVE,
        module=MODULE,
        function="speculative_decoding",
        rule="chain",
        run=_run,
        control=CONTROL,
        options=("temperature", "top_k", "top_p"),
        stubs=STUBS,
        defects=(
            Defect(
                "At temperature 0 the draft is an argmax, and what is compared are softmax masses.",
                (
                    Edit(
                        "return torch.argmax(logits, dim=-1, keepdim=True), F.softmax(logits, dim=-1)",
                        "return logits.argmax(-1, keepdim=True), F.one_hot(logits.argmax(-1), len(logits)).float()",
                    ),
                ),
                Options(temperature=0.0),
            ),
            Defect(
                "The residual, which holds masses, goes through the filter of logits, and what is left sums to no law.",
                (
                    Edit(
                        "sample(adjusted_distribution[None, None, ...], apply_softmax=False, **sample_kwargs)",
                        "multinomial_num_samples_1(adjusted_distribution), None",
                    ),
                ),
                Options(top_p=0.8),
            ),
        ),
    ),
    Engine(
        name="litgpt text",
        source=ARCHIVE,
        module=MODULE,
        function="generate",
        rule="chain",
        run=_text,
        control=CONTROL,
        stubs=STUBS,
        most=1,
        slow=True,
        defects=(
            Defect(
                "The first token, which is drawn with the prompt, is read by the models but left out of the text.",
                (Edit("    tokens = []\n    total_generated", "    tokens = [token[0]]\n    total_generated"),),
            ),
        ),
    ),
)
