"""transformers' generate on tiny random Llamas: the joint law of three tokens, for each way of drafting."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

import torch

from proofs_tests.field.float_cost import TOKENS, allowed, pair
from proofs_tests.field.llamas import PROMPT, llama
from spec_math.audit import ExploreError, LeakError
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.distribution import residual_of, temperature, top_k
from spec_math.field.engine_law import FLOAT32, judged, total_variation
from spec_math.field.engines.transformers import Rows, check_drafts, generate_law
from spec_math.field.installed import edited, engine_part
from torch_bridge import explore

pytestmark = pytest.mark.usefixtures("quiet")

UTILS = engine_part("transformers.generation.utils", "_speculative_sampling")


def test_what_float32_may_cost_is_small() -> None:
    """Far below the total variation of the bugs that are looked for."""
    assert allowed(3) < 1e-4


def test_plain_sampling_has_the_models_law() -> None:
    target, _ = pair(3)
    law = generate_law(target, PROMPT, TOKENS)
    assert law.paths == 3**TOKENS
    assert judged(law, Rows(target, PROMPT), TOKENS, allowed(3))


def test_an_assistant_leaves_the_joint_law_of_three_tokens() -> None:
    target, assistant = pair(3)
    law = generate_law(target, PROMPT, TOKENS, assistant_model=assistant)
    assert judged(law, Rows(target, PROMPT), TOKENS, allowed(3))
    assert total_variation(law, target_law(Rows(target, PROMPT), TOKENS)) < 1e-6


WAYS: list[tuple[str, dict[str, Any]]] = [
    ("an assistant that never doubts", {"assistant_model": 1, "assistant_confidence_threshold": 0}),
    ("prompt lookup", {"prompt_lookup_num_tokens": 2}),
    ("early exit", {"assistant_early_exit": 1}),
]


@pytest.mark.parametrize(("way", "options"), WAYS, ids=[way for way, _ in WAYS])
def test_a_way_of_drafting_leaves_the_joint_law_of_three_tokens(way: str, options: dict[str, Any]) -> None:
    layers = 2 if way == "early exit" else 1
    target, assistant = pair(2, layers)
    options = {name: value for name, value in options.items() if name != "assistant_confidence_threshold"}
    if "assistant_model" in options:
        options["assistant_model"] = never_doubting(assistant)
    law = generate_law(target, PROMPT, TOKENS, **options)
    assert law.paths > 2**TOKENS
    assert judged(law, Rows(target, PROMPT), TOKENS, allowed(2, layers))


def never_doubting(assistant: Any) -> Any:
    """The assistant with its threshold of confidence, by which it stops drafting, at 0."""
    bold = llama(assistant.config.vocab_size, 1)
    bold.generation_config.assistant_confidence_threshold = 0.0
    return bold


def test_temperature_and_top_k_are_applied_alike() -> None:
    target, assistant = pair(3)
    rows = Rows(target, PROMPT)

    def cold(prefix: Any) -> Any:
        return top_k(temperature(rows(prefix), 0.5), 2)

    law = generate_law(target, PROMPT, TOKENS, assistant_model=assistant, temperature=0.5, top_k=2)
    # The logits are doubled, and so is what they are off by; what is filtered out stays out.
    assert judged(law, cold, TOKENS, 2 * allowed(3))
    assert not judged(law, rows, TOKENS, 0.1)


@pytest.mark.parametrize("way", ["assistant", "prompt lookup"])
def test_a_processor_that_reads_the_text_is_applied_alike(way: str) -> None:
    """Each draft is verified with the penalties of the text before it: the law is that of plain sampling."""
    target, assistant = pair(2)
    options = {"assistant_model": assistant} if way == "assistant" else {"prompt_lookup_num_tokens": 2}
    plain = generate_law(target, PROMPT, TOKENS, repetition_penalty=1.5)
    law = generate_law(target, PROMPT, TOKENS, repetition_penalty=1.5, **options)
    # The penalty multiplies logits by up to 1.5; both laws are float32's.
    assert total_variation(law, plain) <= 2 * 1.5 * allowed(2)
    assert not judged(law, Rows(target, PROMPT), TOKENS, 0.01)


def test_nothing_follows_the_end_token() -> None:
    target, assistant = pair(2)
    # Another padding token would be masked out of the prompt.
    law = generate_law(target, PROMPT, TOKENS, assistant_model=assistant, eos_token_id=1, pad_token_id=1)
    assert set(law) == {(1,), (0, 1), (0, 0, 1), (0, 0, 0)}
    assert judged(law, Rows(target, PROMPT, end=1), TOKENS, allowed(2))


def test_the_ensemble_emits_its_mixture_in_every_round() -> None:
    """The program of the design: test against w·t/d + 1 − w, a draft fewer than tokens are left, until the end."""
    target, bold = pair(2)[0], never_doubting(pair(2)[1])
    t, d = Rows(target, PROMPT), Rows(bold, PROMPT)
    weight = 0.25

    def generate(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        text: tuple[int, ...] = ()
        for _ in range(TOKENS - len(prefix) - 1):
            at = prefix + text
            token = coin.draw(d(at))
            if not coin.flip(min(1.0, 1 - weight + weight * t(at)[token] / d(at)[token])):
                return (*text, coin.draw(residual_of(t(at), d(at))))
            text = (*text, token)
        return (*text, coin.draw(t(prefix + text)))

    by_design = emitted_law(generate, t, TOKENS, rounds=TOKENS)
    law = generate_law(target, PROMPT, TOKENS, assistant_model=bold, assistant_ensemble_weight=weight)
    assert total_variation(law, by_design) <= allowed(2)
    assert not judged(law, t, TOKENS, allowed(2))


@pytest.mark.parametrize(
    ("old", "new"),
    [("r_i <= probability_ratio", "r_i < 2"), ("torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)", "p_n_plus_1.clone()")],
    ids=["ratio", "residual"],
)
def test_a_broken_verifier_is_found_through_generate(old: str, new: str) -> None:
    """The control: the drafter is right, and is found so, and the joint law is not the target's."""
    target, assistant = pair(2)
    with mock.patch.object(UTILS, "_speculative_sampling", edited(UTILS._speculative_sampling, old, new)):
        law = generate_law(target, PROMPT, TOKENS, assistant_model=assistant)
    assert not judged(law, Rows(target, PROMPT), TOKENS, allowed(2))
    assert check_drafts(target, PROMPT, assistant_model=assistant)


def test_a_broken_match_is_found_through_prompt_lookup() -> None:
    """The control: a token that does not match the looked-up one is drawn once more (M25)."""
    target, _ = pair(2)
    redrawn = edited(
        UTILS.GenerationMixin._assisted_decoding,
        "valid_tokens = selected_tokens[:, : n_matches + 1]",
        "valid_tokens = torch.cat((selected_tokens[:, :n_matches], "
        "torch.multinomial(new_logits.softmax(-1)[0, n_matches : n_matches + 1], 1)), -1)",
    )
    with mock.patch.object(UTILS.GenerationMixin, "_assisted_decoding", redrawn):
        law = generate_law(target, PROMPT, TOKENS, prompt_lookup_num_tokens=2)
    assert not judged(law, Rows(target, PROMPT), TOKENS, allowed(2))


def test_an_assistant_reports_the_law_that_it_samples() -> None:
    target, assistant = pair(3)
    for place in (0, 1):
        assert check_drafts(target, PROMPT, place, assistant_model=never_doubting(assistant), temperature=0.5)


def test_an_assistant_that_reports_raw_logits_is_found() -> None:
    """The control (M4): processed logits are sampled from, and the raw ones are reported."""
    target, assistant = pair(3)
    generator = engine_part("transformers.generation.candidate_generator", "AssistedCandidateGenerator")
    shipped = generator.AssistedCandidateGenerator._generate_candidates

    def raw(self: Any, arguments: Any) -> Any:
        ids, logits = shipped(self, arguments)
        return ids, logits * 0.5

    with mock.patch.object(generator.AssistedCandidateGenerator, "_generate_candidates", raw):
        assert not check_drafts(target, PROMPT, assistant_model=assistant, temperature=0.5)


def test_prompt_lookup_reports_no_law() -> None:
    with pytest.raises(ValueError, match="nothing is reported"):
        check_drafts(pair(2)[0], PROMPT, prompt_lookup_num_tokens=2)


def test_a_schedule_that_learns_leaks_and_each_run_starts_anew() -> None:
    """num_assistant_tokens is written back into the assistant after each run: the adapter gives every run its own."""
    target, assistant = pair(2)[0], llama(2, 1)
    assistant.generation_config.num_assistant_tokens = 1
    assistant.generation_config.num_assistant_tokens_schedule = "heuristic"
    ids = torch.tensor([PROMPT])

    def run() -> Any:
        return tuple(target.generate(ids, do_sample=True, max_new_tokens=TOKENS, assistant_model=assistant)[0].tolist())

    with pytest.raises(LeakError, match="state leaks between runs"):
        explore(run)
    assistant.generation_config.num_assistant_tokens = 1
    law = generate_law(target, PROMPT, TOKENS, assistant_model=assistant)
    assert judged(law, Rows(target, PROMPT), TOKENS, allowed(2))
    assert assistant.generation_config.num_assistant_tokens == 1


def test_the_budget_of_runs_is_kept() -> None:
    with pytest.raises(ExploreError, match="5 runs of generate left"):
        generate_law(pair(3)[0], PROMPT, TOKENS, budget=5)


def test_a_law_leaves_the_global_generator_as_it_was() -> None:
    before = torch.get_rng_state()
    generate_law(pair(2)[0], PROMPT, 1)
    assert torch.equal(before, torch.get_rng_state())


def test_the_unit_is_that_of_single_precision() -> None:
    assert torch.finfo(torch.float32).eps / 2 == FLOAT32
