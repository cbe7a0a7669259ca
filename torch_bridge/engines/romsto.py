"""Speculative-Decoding of romsto: a text of a fixed length, its samplers objects of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_bridge.engines.engine import Edit, Engine, Step


def _run(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models()
    sampler = module.LogitsProcessor.__subclasses__()
    chosen = next(one for one in sampler if one.__name__ == "MultinomialProcessor")(step.options.temperature)
    sizes = {"gamma": step.lookahead, "max_gen_len": step.lookahead + 1, "eos_tokens_id": 1 << 20}
    found, _ = module.speculative_generate(
        list(step.prompt), draft, target, logits_processor=chosen, first_target=False, **sizes
    )
    return found


ENGINES = (
    Engine(
        name="romsto",
        archive=None,
        module="sampling.speculative_decoding",
        function="speculative_generate",
        rule="chain",
        run=_run,
        control=Edit("max_fn(p[..., n, :] - q[0, n, :])", "max_fn(p[..., n, :])"),
        options=("temperature > 0",),
        stubs=("termcolor", "rich"),
        repository="romsto/Speculative-Decoding",
    ),
)
