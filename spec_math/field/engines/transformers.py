"""transformers: its verification step as a record, the joint law of `generate`, and the contract of its drafters."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

from spec_math.arrays import Array
from spec_math.audit import Explored, ExploreError, Partial, check_drafter
from spec_math.field.engine import LIKELIEST, Archive, Defect, Edit, Engine, Step
from spec_math.field.installed import engine_part
from spec_math.pathwise.exploration import SOURCES
from spec_math.verdict import Verdict
from torch_bridge.causal_model import CausalModel
from torch_bridge.randomness.source import explore, torch_source

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


def _run(module: Any, step: Step, weight: float | None = None) -> Sequence[int]:
    drafts, target, draft = step.chain()
    return emitted(module._speculative_sampling, torch.tensor(drafts), target, draft, weight)


class _Gemma4Assistant(SimpleNamespace):
    """An assistant that the generator knows by its name; the embedding of a token is the token."""

    def __call__(self, inputs_embeds: torch.Tensor, **_: Any) -> Any:
        self.seen.append(int(inputs_embeds[0, 0, 0]))
        logits = self.step.rows(self.step.draft, self.seen[1:])[None, -1:]
        return SimpleNamespace(logits=logits, last_hidden_state=torch.zeros(1, 1, 1))


def _run_gemma(module: Any, step: Step) -> Sequence[int]:
    config = SimpleNamespace(num_assistant_tokens=step.lookahead, max_length=1 << 20)
    assistant = _Gemma4Assistant(step=step, seen=[], device="cpu", generation_config=config)
    generator = module.SinglePositionMultiTokenCandidateGenerator(assistant, partial(torch.unsqueeze, dim=-1), config)
    outputs = SimpleNamespace(hidden_states=[torch.zeros(1, 1, 1)], shared_kv_states={})
    ids, draft = generator.get_candidates(step.ids(), {}, outputs, False, 0)
    drafts = ids[0, len(step.prompt) :]
    return emitted(module._speculative_sampling, drafts, step.rows(step.target, drafts.tolist()), draft[0])


TRANSFORMERS = Engine(
    name="transformers",
    source=Archive("transformers-5.23.0", "018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf"),
    function="transformers.generation.utils:_speculative_sampling",
    run=_run,
    control=Edit("torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)", "p_n_plus_1.clone()"),
    stubs=tuple(f"transformers.{name}" for name in BESIDE),
)
GREEDY = Defect(
    LIKELIEST,
    Edit(
        "last_token_id = outputs.logits.argmax(dim=-1)\n            last_hidden",
        "last_token_id = torch.multinomial(outputs.logits[0].softmax(-1), 1)\n            last_hidden",
        "transformers.generation.candidate_generator",
    ),
)
GEMMA = replace(
    TRANSFORMERS,
    name="transformers Gemma 4 assistant",
    function="transformers.generation.utils:SinglePositionMultiTokenCandidateGenerator, _speculative_sampling",
    run=_run_gemma,
    stubs=tuple(name for name in TRANSFORMERS.stubs if not name.endswith("candidate_generator")),
    rule="likeliest, by ratio",
    defects=(GREEDY,),
)
ENGINES = (TRANSFORMERS, GEMMA)


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
        self._laws, self._prompt = CausalModel(model), tuple(prompt)
        self.end = end
        self._known: dict[tuple[int, ...], Array] = {}

    def __call__(self, prefix: Sequence[int]) -> Array:
        """Return the law [V] of the token after a prefix."""
        text = tuple(prefix)
        if text not in self._known:
            self._known[text] = self._laws([(*self._prompt, *text)])[0]
        return self._known[text]


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
        raise ValueError("no verification step of generate receives the draft's distribution; nothing is reported")

    return check_drafter(drafted, sources=(*SOURCES, torch_source))


class _ReachedError(Exception):
    """generate has drafted, and is about to verify."""

    def __init__(self, tokens: list[int], rows: torch.Tensor) -> None:
        super().__init__()
        self.tokens, self.rows = tokens, rows


def _stop(ids: Any, logits: Any, lookahead: int, *_args: Any, **_options: Any) -> None:
    raise _ReachedError(ids[0, -lookahead:].tolist(), logits[0].softmax(-1))
