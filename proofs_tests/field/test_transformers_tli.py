"""transformers with an assistant of another vocabulary, sampling (TLI): audited end to end, and what is found."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

import torch

from proofs_tests.field.float_cost import allowed
from proofs_tests.field.llamas import PROMPT, llama, words
from spec_math.field.engine_law import judged
from spec_math.field.engines.transformers import Rows, check_drafts, generate_law, generate_run
from spec_math.field.installed import edited, engine_part

pytestmark = pytest.mark.usefixtures("quiet")

DRAFTING = engine_part("transformers.generation.candidate_generator", "AssistantToTargetTranslator")
TOKENS = 3
SORTED, REVERSED = "x a b", "x b a"
"""The target knows a and b, the assistant x too: both orders that its vocabulary may be listed in."""


@cache
def models() -> tuple[Any, Any]:
    return llama(2, 0), llama(3, 1)


def options(order: str) -> dict[str, Any]:
    return {"assistant_model": models()[1], "tokenizer": words("a b"), "assistant_tokenizer": words("x a b", order)}


def verdict(order: str) -> Any:
    target, _ = models()
    law = generate_law(target, PROMPT, TOKENS, **options(order))
    return judged(law, Rows(target, PROMPT), TOKENS, allowed(2))


def test_the_path_with_sampling_is_tli() -> None:
    """SLEM with sampling cannot be reached: sampling always takes the translator of ids and logits."""
    taken: list[str] = []
    shipped = DRAFTING.UniversalSpeculativeDecodingGenerator.get_candidates

    def seen(self: Any, ids: Any) -> Any:
        taken.append(type(self).__name__)
        return shipped(self, ids)

    with mock.patch.object(DRAFTING.UniversalSpeculativeDecodingGenerator, "get_candidates", seen):
        generate_run(models()[0], PROMPT, 1 + 1, **options(SORTED))
    assert taken[0] == "UniversalSpeculativeDecodingGenerator"


def test_the_order_of_a_fast_tokenizers_vocabulary_is_not_that_of_ids() -> None:
    """Nor is it the same at each call: which of the two laws a user gets is left to chance."""
    tokenizer = words("x a b")
    orders = {tuple(tokenizer.get_vocab()) for _ in range(100)}
    assert len(orders) > 1


def test_with_ids_listed_in_order_it_is_lossless() -> None:
    assert verdict(SORTED)


def test_with_ids_listed_otherwise_it_is_lossy() -> None:
    """As shipped in 5.23.0: the reported law is permuted against the drafted tokens."""
    found = verdict(REVERSED)
    assert not found
    assert found.total_variation > 0.01


@pytest.mark.parametrize("place", [0, 1])
def test_the_contract_that_is_broken_is_the_drafters(place: int) -> None:
    """M1 by name: two index maps disagree, so that token a is drafted with the mass that is reported of b."""
    assert check_drafts(models()[0], PROMPT, place, **options(SORTED))
    found = check_drafts(models()[0], PROMPT, place, **options(REVERSED))
    assert not found
    # Swapped masses of a law on two tokens: what is drafted and what is reported sum to 1.
    assert abs(found.emitted + found.target - 1) < 1e-12


def test_one_word_cures_it() -> None:
    """`sorted` for `list` in the translator: the law is the target's in any order."""
    cured = edited(
        DRAFTING.AssistantToTargetTranslator,
        "list(self.target_to_assistant_input_ids.values())",
        "sorted(self.target_to_assistant_input_ids.values())",
    )
    with mock.patch.object(DRAFTING, "AssistantToTargetTranslator", cured):
        assert verdict(REVERSED)
        assert check_drafts(models()[0], PROMPT, 1, **options(REVERSED))


def test_of_all_orders_of_three_shared_words_only_one_is_lossless() -> None:
    """Two tokens, each order that the translator may meet."""
    target, assistant = llama(3, 0), llama(5, 1)
    lossless = []
    for order in permutations("abc"):
        law = generate_law(
            target,
            PROMPT,
            2,
            assistant_model=assistant,
            tokenizer=words("a b c"),
            assistant_tokenizer=words("x c a b y", " ".join(["x", *order, "y"])),
        )
        if judged(law, Rows(target, PROMPT), 2, 2 * allowed(3)):
            lossless.append("".join(order))
    assert lossless == ["cab"]


def test_a_word_that_only_the_target_knows_leaves_the_law() -> None:
    """z is emitted though it is never drafted; the assistant reads it as its unknown word."""
    target, _ = models()
    how = {
        "assistant_model": models()[1],
        "tokenizer": words("a z"),
        "assistant_tokenizer": words("a y unknown", "a y unknown"),
    }
    law = generate_law(target, PROMPT, TOKENS, **how)
    assert sum(mass for text, mass in law.items() if 1 in text) > 0.1
    assert judged(law, Rows(target, PROMPT), TOKENS, allowed(2))


def test_kept_drafts_are_read_again_under_another_numbering_and_the_law_stands() -> None:
    """The last draft kept is fed to the assistant by its number in the pruned head, not by its own: it drafts worse.

    The law is none the worse for it, as what is sampled is what is reported.
    """
    fed: list[list[int]] = []
    how = options(SORTED)
    how["assistant_model"].generation_config.assistant_confidence_threshold = 0.0
    target, _ = models()
    shipped = DRAFTING._MapInputEmbedding.forward

    def watched(self: Any, ids: Any) -> Any:
        if not self.map:
            fed.append(ids[0].tolist())
        return shipped(self, ids)

    with mock.patch.object(DRAFTING._MapInputEmbedding, "forward", watched):
        run = generate_run(target, PROMPT, 5, **how)
        misread = 0
        for seed in range(20):
            fed.clear()
            torch.manual_seed(seed)
            text = run()
            # a and b are 1 and 2 to the assistant, 0 and 1 to the target and in the pruned head.
            for again in fed[1:]:
                misread += len(again) > 1 and again[0] not in (1, 2)
            assert set(text) <= {0, 1}
    assert misread > 0
    assert judged(generate_law(target, PROMPT, TOKENS, **how), Rows(target, PROMPT), TOKENS, allowed(2))


# State that leaks between runs, and what else breaks on the way.


def test_a_run_prunes_the_assistant_for_good_and_the_adapter_prunes_a_copy() -> None:
    target, assistant = models()
    how = options(SORTED)
    generate_law(target, PROMPT, 2, **how)
    assert assistant.lm_head.weight.shape == (3, 16)
    worn = copy.deepcopy(assistant)
    ids = torch.tensor([PROMPT])
    target.generate(ids, do_sample=True, max_new_tokens=2, **(how | {"assistant_model": worn}))
    assert worn.lm_head.pruned_lm_head.weight.shape == (2, 16)


def test_a_pruned_assistant_cannot_be_used_with_tokenizers_loaded_again() -> None:
    target, assistant = models()
    worn = copy.deepcopy(assistant)
    ids = torch.tensor([PROMPT])
    for _ in range(2):  # the second run of the same tokenizers is served from the cache
        how = options(SORTED) | {"assistant_model": worn}
    target.generate(ids, do_sample=True, max_new_tokens=2, **how)
    target.generate(ids, do_sample=True, max_new_tokens=2, **how)
    with pytest.raises(AttributeError, match="weight"):
        target.generate(ids, do_sample=True, max_new_tokens=2, **(options(SORTED) | {"assistant_model": worn}))


def test_a_second_assistant_with_the_same_tokenizers_is_not_pruned() -> None:
    target, assistant = models()
    how = options(SORTED)
    ids = torch.tensor([PROMPT])
    target.generate(ids, do_sample=True, max_new_tokens=2, **(how | {"assistant_model": copy.deepcopy(assistant)}))
    with pytest.raises(RuntimeError, match="shape mismatch"):
        target.generate(ids, do_sample=True, max_new_tokens=2, **(how | {"assistant_model": copy.deepcopy(assistant)}))


def test_an_assistant_whose_words_the_target_all_knows_fails() -> None:
    """Nothing is pruned then, and the translation reads an attribute that only pruning sets."""
    with pytest.raises(AttributeError, match="assistant_overlap_token_ids"):
        generate_law(
            llama(3, 0),
            PROMPT,
            2,
            assistant_model=llama(2, 1),
            tokenizer=words("a b c"),
            assistant_tokenizer=words("a b"),
        )


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    models()[1].generation_config.assistant_confidence_threshold = None
