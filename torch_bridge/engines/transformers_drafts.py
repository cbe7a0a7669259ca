"""The drafter's contract in transformers: is a draft sampled from the law that is reported to the verification step?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import torch

from spec_math.audit.exploration.explore import SOURCES
from spec_math.samplers.drafter import check_drafter
from spec_math.verdict import Verdict
from torch_bridge.engines.installed import engine_part
from torch_bridge.engines.transformers_generate import generate_run
from torch_bridge.random_source import torch_source

_UTILS = "transformers.generation.utils"


def check_drafts(model: Any, prompt: Sequence[int], place: int = 0, **options: Any) -> Verdict:
    """Decide whether a draft of `model.generate` is sampled from the law that generate reports with it.

    The law: P(drafted token = x | reported row r) = r(x), for the `place`-th draft of the first verification step;
    where fewer are drafted there is none to judge. generate is run up to that step and stopped there: what an assistant
    of another vocabulary, a temperature or a filter makes of the law is seen as it reaches the verifier. Options go to
    generate.

    Raises:
        ModuleNotFoundError, AttributeError: transformers is not installed, or has no such step.
        ValueError: no step was reached: this way of drafting reports no law (prompt lookup), or none is drafted.

    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> sizes = dict(vocab_size=2, hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1)
    >>> ends = dict(bos_token_id=None, eos_token_id=None, pad_token_id=None)
    >>> one = LlamaForCausalLM(LlamaConfig(**sizes, **ends)).eval()
    >>> bool(check_drafts(one, [0, 1], assistant_model=one, num_assistant_tokens=1))
    True
    """
    utils = engine_part(_UTILS, "_speculative_sampling")
    run = generate_run(model, prompt, place + 3, **options)

    def drafted() -> tuple[int | None, Any]:
        with mock.patch.object(utils, "_speculative_sampling", _stop):
            try:
                run()
            except _ReachedError as step:
                if len(step.tokens) <= place:
                    return None, [1]
                # Drawing divides by the row's sum, and so is the row read here.
                row = step.rows[place].double()
                return step.tokens[place], (row / row.sum()).numpy()
        raise ValueError("generate reached no verification step that is told the draft's law; nothing is reported")

    return check_drafter(drafted, sources=(*SOURCES, torch_source))


class _ReachedError(Exception):
    """generate has drafted, and is about to verify."""

    def __init__(self, tokens: list[int], rows: torch.Tensor) -> None:
        super().__init__()
        self.tokens, self.rows = tokens, rows


def _stop(ids: Any, logits: Any, lookahead: int, *_args: Any, **_options: Any) -> None:
    raise _ReachedError(ids[0, -lookahead:].tolist(), logits[0].softmax(-1))
