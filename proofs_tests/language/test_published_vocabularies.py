"""Tables 8 and 9 of Timor et al. and three overlaps of TokenTiming's Table 1, from the real vocabularies."""

from __future__ import annotations

import pytest

from proofs_tests.language.failing_drafts import failing_draft
from proofs_tests.real_vocabularies import published, real
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.language.overlap import by_bytes, by_keys, expressibility, in_texts

# Timor et al., Table 8.
TABLE_8 = {
    "gemma2": 256_000,
    "llama3.1": 128_256,
    "mixtral-8x22b": 32_768,
    "phi3-medium": 32_011,
    "codellama-13b": 32_016,
    "qwen2": 151_646,
    "starcoder": 49_152,
    "llama2": 32_000,
}

# Timor et al., Table 9: target, drafter, |T ∩ D| and |T ∩ D|/|T| as printed, and the same by bytes, which is not.
TABLE_9 = [
    ("llama3.1", "qwen2", 109_566, "0.85", 109_566),
    ("gemma2", "llama2", 30_489, "0.12", 30_392),
    ("mixtral-8x22b", "llama2", 24_184, "0.74", 24_088),
    ("mixtral-8x22b", "qwen2", 10_566, "0.32", 29_234),
    ("phi3-medium", "qwen2", 9_588, "0.30", 26_343),
    ("codellama-13b", "starcoder", 8_481, "0.26", 18_287),
]

# TokenTiming, Table 1: target, drafter, special tokens that the drafter there has beyond ours, |∩|/|∪| and |∩|/max as
# printed. Its Qwen2.5 has the text tokens of Qwen2 and 22 special tokens where Qwen2 has 3; its OPT those of GPT-2.
TABLE_1 = [
    ("llama3.1", "qwen2", 19, "0.643", "0.722"),
    ("llama3.1", "llama2", 0, "0.064", "0.075"),
    ("llama3.1", "gpt2", 0, "0.319", "0.337"),
]


@pytest.mark.parametrize(("name", "size"), TABLE_8.items())
def test_table_8_sizes(name, size):
    assert len(real(name)) == size


@pytest.mark.parametrize(("target", "draft", "shared", "share", "_"), TABLE_9)
def test_table_9_counts_raw_keys(target, draft, shared, share, _):
    overlap = by_keys(real(target), real(draft))
    assert len(overlap.shared) == shared
    # The printed share divides by |T| of Table 8, which is the number of keys.
    assert len(overlap.target) == TABLE_8[target]
    assert f"{float(overlap.of_target):.2f}" == share


@pytest.mark.parametrize(("target", "draft", "shared"), [(row[0], row[1], row[-1]) for row in TABLE_9])
def test_table_9_by_bytes(target, draft, shared):
    assert len(by_bytes(real(target), real(draft)).shared) == shared


def test_erratum_k_rows_4_to_6_of_table_9_compare_two_alphabets():
    # Where one file is byte-level and the other is SentencePiece, texts are shared more than twice as often as keys.
    ratios = [shared / keys for _, _, keys, _, shared in TABLE_9]
    assert [ratio > 2 for ratio in ratios] == [False, False, False, True, True, True]
    overlap = by_keys(real("mixtral-8x22b"), real("qwen2"))
    target, draft = (
        dict(zip(vocabulary.keys, vocabulary, strict=True)) for vocabulary in (real("mixtral-8x22b"), real("qwen2"))
    )
    differ = [key for key in overlap.shared if target[key] != draft[key]]
    assert len(differ) == published()["table9"][3]["same_key_but_different_bytes_or_role"] == 137


@pytest.mark.parametrize(("target", "draft", "more", "of_union", "of_larger"), TABLE_1)
def test_token_timing_table_1_overlaps(target, draft, more, of_union, of_larger):
    listed = real(draft)
    names = [f"<special {number}>" for number in range(more)]
    special = [*listed.special, *range(len(listed), len(listed) + more)]
    spelled = [listed.special.get(index, token) for index, token in enumerate(listed)]
    drafter = Vocabulary([*spelled, *names], special, [*listed.keys, *names], repeats=True)
    overlap = by_keys(real(target), drafter)
    assert f"{float(overlap.jaccard):.3f}" == of_union
    assert f"{float(overlap.of_larger):.3f}" == of_larger


def test_overlaps_agree_with_a_recount():
    names = list(TABLE_8)
    for index, target in enumerate(names):
        for draft in names[index:]:
            assert len(by_keys(real(target), real(draft)).shared) == published()["overlap_raw_keys"][target][draft]
            assert len(by_bytes(real(target), real(draft)).shared) == published()["overlap_byte_strings"][target][draft]


def test_expressibility_of_real_pairs():
    # Llama 3.1 and Qwen2 hold all 256 bytes; SentencePiece vocabularies do through their byte pieces.
    for target, draft in [("llama3.1", "qwen2"), ("mixtral-8x22b", "qwen2"), ("gemma2", "llama2")]:
        assert expressibility(real(target), real(draft))
        assert failing_draft(real(draft), real(target)) is None


def test_starcoder_breaks_on_the_bytes_it_leaves_out():
    target, draft = real("qwen2"), real("starcoder")
    both = expressibility(target, draft)
    assert both.draft_breaks == ()
    missing = [byte for byte in range(256) if bytes([byte]) not in draft]
    assert missing == [0xC0, 0xC1, 0xF1, *range(0xF5, 0x100)]
    # Every token of Qwen2 that holds one of these bytes breaks, and no other.
    holds = tuple(index for index, token in enumerate(target.tokens) if set(token) & set(missing))
    assert both.target_breaks == holds
    assert len(holds) == len(missing) == 14


def test_overlap_on_a_text_is_not_that_of_the_vocabularies():
    # Table 10 restricts both vocabularies to the tokens of 50 prompts, which are not published; so on another text.
    text = "def count(values):\n    return {value: values.count(value) for value in set(values)}\n"
    target, draft = GreedyTokenizer(real("llama3.1")), GreedyTokenizer(real("qwen2"))
    whole, restricted = by_bytes(real("llama3.1"), real("qwen2")), in_texts([text], target, draft)
    assert restricted.of_target == 1 > whole.of_target
