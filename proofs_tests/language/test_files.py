"""Tokeniser files of three kinds: read, told apart, and named where they are broken."""

from __future__ import annotations

import base64
import importlib.util
import io
import json

import pytest

from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.language.files import RankPairs, SentencePiece, read_tiktoken, read_vocabulary
from spec_math.language.overlap import not_recovered
from spec_math.language.tokenizer_json import TokenizerJson, byte_alphabet


def needs(library):
    return pytest.mark.skipif(importlib.util.find_spec(library) is None, reason=f"needs the optional library {library}")


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def byte_level(words, merges, added=()):
    """A byte-level tokenizer.json over single signs, the given longer tokens and added tokens."""
    keys = [*byte_alphabet(), *words]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": len(keys) + at,
                "content": content,
                "special": special,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
            }
            for at, (content, special) in enumerate(added)
        ],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {"type": "BPE", "vocab": {key: at for at, key in enumerate(keys)}, "merges": merges},
    }


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        path = tmp_path / name
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_a_byte_level_tokenizer_json_is_read_as_bytes(written):
    path = written(
        "tokenizer.json", byte_level(["Ġa", "Ã©"], [["Ġ", "a"], ["Ã", "©"]], [("<end>", True), ("<x>", False)])
    )
    vocabulary = read_vocabulary(path)
    assert len(vocabulary) == 260
    assert vocabulary.tokens[256:] == (b" a", "é".encode(), b"", b"<x>")
    assert vocabulary.keys[256:] == ("Ġa", "Ã©", "<end>", "<x>")
    assert vocabulary.special == {258: "<end>"}
    assert sorted(vocabulary.tokens[:256]) == [bytes([byte]) for byte in range(256)]
    assert GreedyTokenizer(vocabulary).encode("a é <end>")[:3] == (vocabulary.index("a"), vocabulary.index(" "), 257)


def test_metaspace_and_byte_pieces_are_read_as_bytes(written):
    pieces = ["<unk>", "<0x41>", "<0x0A>", "▁", "A", "▁A"]
    fields = byte_level([], [])
    fields["model"] = {
        "type": "BPE",
        "unk_token": "<unk>",
        "byte_fallback": True,
        "vocab": {piece: at for at, piece in enumerate(pieces)},
        "merges": [["▁", "A"]],
    }
    replace = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    fields["decoder"] = {"type": "Sequence", "decoders": [replace, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    vocabulary = read_vocabulary(written("tokenizer.json", fields))
    assert vocabulary.tokens == (b"", b"A", b"\n", b" ", b"A", b" A")
    assert vocabulary.special == {0: "<unk>"}
    assert vocabulary.repeats == {1: 4}
    assert GreedyTokenizer(vocabulary).encode("A\n A") == (4, 2, 5)


def test_a_unigram_tokenizer_json_lists_its_pieces_in_order(written):
    fields = byte_level([], [])
    fields["model"] = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁a", -1.5], ["b", -2.0]]}
    fields["decoder"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
    vocabulary = read_vocabulary(written("tokenizer.json", fields))
    assert vocabulary.tokens == (b"", b" a", b"b")


def test_ids_left_out_keep_their_place(written):
    fields = byte_level([], [], [("<end>", True)])
    fields["added_tokens"][0]["id"] = 258
    vocabulary = read_vocabulary(written("tokenizer.json", fields))
    assert vocabulary.special == {256: "<no token 256>", 257: "<no token 257>", 258: "<end>"}


def test_word_pieces_have_no_bytes_of_their_own(written):
    fields = byte_level([], [])
    fields["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    with pytest.raises(ValueError, match=r"decoder is WordPiece.*no bytes of their own"):
        read_vocabulary(written("tokenizer.json", fields))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (json.dumps(byte_level([], []))[:400], r"truncated or not JSON, at character \d+ of 400"),
        (b'{"a": "\xff"}', "no UTF-8 at byte 7 of 10"),
        (b'{"model": {}}', "not a tokenizer.json: it holds no 'model' with a 'vocab'"),
        (b'{"model": {"vocab": []}}', "its 'vocab' is empty"),
    ],
)
def test_a_broken_tokenizer_json_is_named(written, content, says):
    with pytest.raises(ValueError, match=says):
        read_vocabulary(written("tokenizer.json", content))


def ranks(tokens):
    return "".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))


def test_a_tiktoken_file_is_read_in_the_order_of_its_ranks(written):
    path = written("small.tiktoken", ranks([b"b", b"a", b"\xc3", b"ab"]))
    assert read_vocabulary(path).tokens == (b"b", b"a", b"\xc3", b"ab")
    named = read_tiktoken(path, {"<end>": 5})
    assert named.special == {4: "<no token 4>", 5: "<end>"}
    with pytest.raises(ValueError, match=r"'<end>' has index 3, which .* gives to b'ab'"):
        read_tiktoken(path, {"<end>": 3})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (ranks([b"a", b"ab"])[:-3], "line 2 is not 'base64 rank'"),
        (ranks([b"a"]) + "YQ= 1\n", "line 2 is not 'base64 rank'"),
        (ranks([b"a"]) + "Yg== 0\n", "line 2 gives rank 0 a second time"),
        (" \n", "blank lines only"),
    ],
)
def test_a_broken_tiktoken_file_is_named(written, content, says):
    with pytest.raises(ValueError, match=says):
        read_tiktoken(written("small.tiktoken", content))


def test_byte_pairs_join_the_lowest_rank_first():
    vocabulary = Vocabulary(["a", "b", "c", "bc", "ab", "abc", "aa"])
    pairs = RankPairs(vocabulary)
    assert pairs.encode("abc") == (5,)
    assert pairs.encode("abca") == (5, 0)  # bc, then a ⊕ bc
    assert pairs.encode("aaa") == (6, 0)  # of equal ranks the first
    assert pairs.decode(pairs.encode("abcaab")) == "abcaab"
    with pytest.raises(ValueError, match="no token spells byte 0x64 at position 1 of the piece b'ad'"):
        pairs.encode("ad")


def test_an_absent_library_is_named(monkeypatch, written):
    import importlib

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(ImportError, match="needs the library sentencepiece, which is not installed: pip install"):
        read_vocabulary(written("tokenizer.model", b"\x0a\x0e"))
    with pytest.raises(ImportError, match="needs the library tokenizers"):
        TokenizerJson(written("tokenizer.json", byte_level([], [])))
    with pytest.raises(ImportError, match="needs the library tokenizers"):
        RankPairs(Vocabulary(["a"]), r"\w+")


@needs("tokenizers")
def test_the_library_and_the_vocabulary_read_agree_on_every_token(written):
    words, merges = ["Ġa", "Ã©", "Ġab"], [["Ġ", "a"], ["Ã", "©"], ["Ġa", "b"]]
    tokenizer = TokenizerJson(written("tokenizer.json", byte_level(words, merges, [("<end>", True)])))
    text = "é ab a éab\n<end>"
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == text
    assert tokens[-1] == len(tokenizer.vocabulary) - 1
    assert tokenizer.vocabulary.decode(tokens[:-1]) == text.removesuffix("<end>")
    assert 258 in tokens
    assert not_recovered(tokenizer, [text]) == []


@needs("tokenizers")
def test_every_token_adds_the_bytes_that_the_library_decodes(written):
    added = [("<x>", False), ("Ġ<y>", False), ("日", False), ("<end>", True)]
    tokenizer = TokenizerJson(written("tokenizer.json", byte_level(["Ġa", "Ã©"], [["Ġ", "a"], ["Ã", "©"]], added)))
    vocabulary = tokenizer.vocabulary
    assert vocabulary.tokens[258:] == (b"<x>", b" <y>", "日".encode(), b"")
    for index, token in enumerate(vocabulary.tokens):
        # Between two letters, so that nothing is stripped; what is not valid UTF-8 alone the library shows as U+FFFD.
        letter = vocabulary.index("a")
        decoded = tokenizer.decode([letter, index, letter])
        assert decoded == f"a{vocabulary.special.get(index, token.decode(errors='replace'))}a"


@needs("tokenizers")
def test_a_pattern_keeps_pairs_within_its_pieces():
    vocabulary = Vocabulary(["a", "b", " ", " a", "ab"])
    assert RankPairs(vocabulary).encode("ab ab") == (4, 3, 1)
    assert RankPairs(vocabulary, r"\w+|\s+").encode("ab ab") == (4, 2, 4)


@needs("tokenizers")
def test_a_normaliser_that_loses_text_is_found(written):
    fields = byte_level([], [])
    fields["normalizer"] = {"type": "Lowercase"}
    lost = not_recovered(TokenizerJson(written("tokenizer.json", fields)), ["all small", "One Capital"])
    assert [(loss.text, loss.decoded) for loss in lost] == [("One Capital", "one capital")]
    assert lost[0].reason == "from character 0 on, 'One Capital' becomes 'one capital'"


@needs("sentencepiece")
def test_a_sentencepiece_model_is_read_as_bytes(written):
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "a cat and a mat", "the hat"] * 20),
        model_writer=model,
        vocab_size=290,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    path = written("tokenizer.model", model.getvalue())
    tokenizer = SentencePiece(path)
    vocabulary = tokenizer.vocabulary
    assert vocabulary.special == {0: "<unk>", 1: "<s>", 2: "</s>"}
    assert vocabulary.tokens[3:259] == tuple(bytes([byte]) for byte in range(256))
    text = "the cat é"
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == text
    assert vocabulary.decode(tokens) == " " + text
    assert vocabulary.index("e") > 258
    assert not_recovered(tokenizer, [text]) == []
    with pytest.raises(ValueError, match="no SentencePiece model, or a truncated one"):
        read_vocabulary(written("half.model", model.getvalue()[: len(model.getvalue()) // 2]))


@needs("sentencepiece")
def test_a_file_of_no_kind_is_named(written):
    with pytest.raises(ValueError, match="no SentencePiece model"):
        read_vocabulary(written("tokenizer.model", b"\x00\x01\x02 nothing of the kind"))
    with pytest.raises(FileNotFoundError):
        read_vocabulary("no/such/file")


def test_a_list_of_tokens_is_read_in_its_order(written):
    listed = ["a", "é", {"bytes": "ff"}, {"special": "<end>"}]
    vocabulary = read_vocabulary(written("tokens.json", json.dumps(listed)))
    assert vocabulary.tokens == (b"a", "é".encode(), b"\xff", b"")
    assert vocabulary.special == {3: "<end>"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('["a", "b"', "truncated or not JSON"),
        ('["a", ""]', "every token must add text; token 1 is empty"),
        ('["a", "a"]', "tokens 0 and 1 are both b'a'"),
        ("[]", "needs at least one token"),
        ('["a", 3]', "token 1 must be a text"),
        ('[{"bytes": "f"}]', "token 0: 'f' is not a list of bytes in hexadecimal"),
        ('[{"special": "x", "bytes": "ff"}]', "token 0 must be a text"),
        ('["\\ud800"]', "has no UTF-8"),
        (b'["\xff"]', "truncated or not JSON"),
    ],
)
def test_a_broken_list_of_tokens_is_named(written, content, says):
    path = written("tokens.json", content)
    with pytest.raises(ValueError, match=says) as error:
        read_vocabulary(path)
    assert "tokens.json" in str(error.value)
