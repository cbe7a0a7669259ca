"""transformers' whole `generate`: the exact joint law of its first tokens, with an assistant or without."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from spec_math.arrays import Array
from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.explore import Explored, Partial
from torch_bridge.engines.installed import engine_part
from torch_bridge.explore import explore

COPIED = ("assistant_model", "tokenizer", "assistant_tokenizer")
"""What `generate` writes into: an assistant of another vocabulary is pruned once and for all, and remembered by its
tokenizers."""


def generate_law(model: Any, prompt: Sequence[int], tokens: int, budget: int = 20_000, **options: Any) -> Explored:
    """Compute the exact joint law of the first `tokens` tokens that `model.generate` samples after a prompt.

    The law: {tokens: probability}, of as many runs of generate as its random numbers have paths. Options go to generate
    as they are (assistant_model=..., prompt_lookup_num_tokens=..., temperature=..., tokenizer=...).

    State that leaks between runs is taken care of: each law gets its own copy of the assistant and of the tokenizers,
    and each run the generation configs as they were. So a schedule that learns from run to run starts anew.

    Raises:
        ModuleNotFoundError: transformers is not installed.
        ExploreError: more paths than `budget`, or what `explore` raises; LeakError where other state leaks.

    >>> import torch
    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> sizes = dict(vocab_size=2, hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1)
    >>> ends = dict(bos_token_id=None, eos_token_id=None, pad_token_id=None)
    >>> law = generate_law(LlamaForCausalLM(LlamaConfig(**sizes, **ends)).eval(), [0, 1], 2)
    >>> sorted(law), round(sum(law.values()), 12)
    ([(0, 0), (0, 1), (1, 0), (1, 1)], 1.0)
    """
    found = explore(generate_run(model, prompt, tokens, **options), budget)
    if isinstance(found, Partial):
        raise ExploreError(
            f"{found.paths} runs of generate left {found.unexplored:.3g} of the mass unexplored; raise budget, or take "
            "a smaller vocabulary or fewer tokens"
        )
    return found


def generate_run(model: Any, prompt: Sequence[int], tokens: int, **options: Any) -> Callable[[], tuple[int, ...]]:
    """Return one run of `model.generate` as a function of its random numbers alone, for `explore`.

    It has run once: the first run of an assistant of another vocabulary makes a new head, from random numbers that are
    then overwritten.

    >>> from types import SimpleNamespace
    >>> echo = SimpleNamespace(generation_config=None, generate=lambda ids, **how: ids)
    >>> generate_run(echo, [1], 1)()
    ()
    """
    engine_part("transformers.generation.utils", "GenerationMixin")
    ids = torch.tensor([list(prompt)])
    own = {name: copy.deepcopy(value) if name in COPIED else value for name, value in options.items()}
    holders = [one for one in (model, own.get("assistant_model")) if one is not None]
    as_shipped = [copy.deepcopy(one.generation_config) for one in holders]

    def run() -> tuple[int, ...]:
        for holder, config in zip(holders, as_shipped, strict=True):
            holder.generation_config = copy.deepcopy(config)
        # generate hands its options on to the assistant's config: a list or a config among them must stay as it is.
        how = {name: value if name in COPIED else copy.deepcopy(value) for name, value in own.items()}
        try:
            with torch.no_grad():
                result = model.generate(ids, do_sample=True, max_new_tokens=tokens, **how)
        finally:
            model.generation_config = copy.deepcopy(as_shipped[0])
        return tuple(result[0, ids.shape[1] :].tolist())

    with torch.random.fork_rng(devices=[]):
        run()
    return run


class Rows:
    """A transformers model as a model of laws: from generated tokens to the law [V] of the next one, in float64.

    One forward pass without a cache a prefix; the softmax is taken in float64. `end` is the token that ends a text.
    """

    def __init__(self, model: Any, prompt: Sequence[int], end: int | None = None) -> None:
        self._model, self._prompt = model, list(prompt)
        self.end = end
        self._known: dict[tuple[int, ...], Array] = {}

    def __call__(self, prefix: Sequence[int]) -> Array:
        """Return the law [V] of the token after a prefix."""
        text = tuple(prefix)
        if text not in self._known:
            with torch.no_grad():
                logits = self._model(torch.tensor([[*self._prompt, *text]])).logits[0, -1]
            weights = np.exp((row := logits.double().numpy()) - row.max())
            self._known[text] = weights / weights.sum()
        return self._known[text]
