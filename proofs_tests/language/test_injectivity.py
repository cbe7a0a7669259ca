"""Tokenisers that lose text: Timor et al., Table 11, on the documentation inside CPython instead of CNN/DailyMail."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pydoc_data.topics import topics

import pytest

from proofs_tests.language.collapsing import Collapsing
from proofs_tests.real_vocabularies import real, stored
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.language.overlap import not_recovered
from spec_math.language.tokenizer_json import TokenizerJson

needs_tokenizers = pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is None, reason="needs the optional library tokenizers"
)

TEXTS = [topics[name] for name in sorted(topics)]
PARAGRAPHS = [part for text in TEXTS for part in text.split("\n\n") if part.strip()]
"""The default text, whole topics and its paragraphs: of each text the first 100 characters are taken."""


def test_longest_prefixes_of_all_bytes_lose_nothing():
    every = GreedyTokenizer(Vocabulary([*(bytes([byte]) for byte in range(256)), "the", " the", "é"]))
    assert not_recovered(every, [*TEXTS, "é ", "日本", "\u0301"]) == []


def test_a_tokeniser_that_collapses_spaces_is_found():
    lost = not_recovered(Collapsing(), ["one two", "one  two"])
    assert [loss.text for loss in lost] == ["one  two"]
    assert lost[0].reason == "from character 4 on, ' two' becomes 'two'"


def test_only_the_first_characters_are_held_against_each_other():
    late = "x" * 100 + "  "
    assert not_recovered(Collapsing(), [late]) == []
    assert len(not_recovered(Collapsing(), [late], characters=None)) == 1


def test_a_text_that_cannot_be_encoded_is_lost_with_its_reason():
    lost = not_recovered(GreedyTokenizer(Vocabulary(["a"])), ["ab"])
    assert (lost[0].decoded, lost[0].reason[:27]) == (None, "no token starts at byte 1 o")


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
PIECES = {
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    },
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
}


@cache
def tokenizer_json(name):
    """The tokenizer.json of a published model, put together from its stored vocabulary."""
    vocabulary, fields = real(name), stored(name)
    keys = vocabulary.keys
    model = {"type": "BPE", "vocab": {key: index for index, key in enumerate(keys)}, "ignore_merges": False}
    special = [
        {"id": index, "content": text, "special": True, "normalized": False}
        | {"single_word": False, "lstrip": False, "rstrip": False}
        for index, text in vocabulary.special.items()
    ]
    whole = {"version": "1.0", "truncation": None, "padding": None, "post_processor": None, "added_tokens": special}
    if fields["kind"] == "byte_bpe":
        ids = list(map(int, fields["merges"].split()))
        model["merges"] = [[keys[left], keys[right]] for left, right in zip(ids[::2], ids[1::2], strict=True)]
        pattern = fields["pretokenizer_regex"].removeprefix("digits split individually, then ")
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        cut = {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL]}
        normaliser = {"type": "NFC"} if fields.get("hf_normalizer") == "NFC" else None
        return whole | {"model": model, "normalizer": normaliser, "pre_tokenizer": cut, "decoder": BYTE_LEVEL}
    # SentencePiece joins the neighbours whose union has the best score: every cut of a piece in two, by that score.
    best = {
        key: fields["score_exceptions"].get(str(index), fields["score_base_id"] - index)
        for index, key in enumerate(keys)
        if fields["types"][index] == "1"
    }
    cuts = [(key[:at], key[at:]) for key in best for at in range(1, len(key)) if {key[:at], key[at:]} <= best.keys()]
    model["merges"] = sorted(map(list, cuts), key=lambda cut: -best["".join(cut)])
    model |= {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
    return whole | PIECES | {"model": model, "pre_tokenizer": None}


@cache
def tokenizer(name, folder):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(tokenizer_json(name)))
    return TokenizerJson(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tokenizers")


@needs_tokenizers
@pytest.mark.parametrize("name", ["gpt2", "starcoder", "qwen2", "llama2"])
def test_table_11_no_prefix_of_the_documentation_is_lost(name, folder):
    read = tokenizer(name, folder)
    assert len(TEXTS) >= 70
    assert len(PARAGRAPHS) > 2_000
    assert not_recovered(read, [*TEXTS, *PARAGRAPHS]) == []
    # The vocabulary read back from the file is the stored one, byte for byte.
    assert read.vocabulary.tokens == real(name).tokens
    assert read.vocabulary.keys == real(name).keys
    assert read.vocabulary.special == real(name).special


@needs_tokenizers
def test_table_11_vicuna_is_lost_by_the_token_put_before_the_text(folder):
    # Hugging Face's Llama tokenisers put <s> before a text, and decode writes it out: that is enough for Vicuna's
    # "False". Without it no prefix is lost (above), as SentencePiece's own "True" says.
    class WithBeginning:
        def __init__(self, inner):
            self.inner, self.vocabulary = inner, inner.vocabulary

        def encode(self, text):
            return (1, *self.inner.encode(text))

        def decode(self, tokens):
            return self.inner.decode(tokens)

    lost = not_recovered(WithBeginning(tokenizer("llama2", folder)), TEXTS)
    assert len(lost) == len(TEXTS)
    assert all(loss.decoded.startswith("<s>") for loss in lost)


@needs_tokenizers
def test_table_11_speaks_of_its_corpus_alone(folder):
    # Qwen2 normalises to NFC: an e with a combining accent comes back as one character. GPT-2 keeps both.
    assert [loss.decoded for loss in not_recovered(tokenizer("qwen2", folder), ["cafe\u0301", "café"])] == ["café"]
    assert not_recovered(tokenizer("gpt2", folder), ["cafe\u0301", "café"]) == []


@needs_tokenizers
def test_special_tokens_written_in_a_text_are_read_as_special(folder):
    read = tokenizer("qwen2", folder)
    assert read.encode("<|im_end|>") == (151_645,)
    # Longest prefixes know no special tokens in a text.
    assert 151_645 not in GreedyTokenizer(real("qwen2")).encode("<|im_end|>")
