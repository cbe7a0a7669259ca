"""One odd array does not condemn an archive, names hold colons, and a text may begin with a byte-order mark."""

from __future__ import annotations

import codecs
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from spec_math.files.law_files import LawFileError, open_laws
from spec_math.language import Table, corpus
from spec_math.language.files import read_tokenizer, read_vocabulary
from spec_math.studies.arguments import names_of
from spec_math.studies.audits.samples import _tokens
from spec_math.studies.vocabularies.psi import text_of
from spec_math.token_level import transport
from spec_math.token_level.certificate import load

LAWS = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])


def rows(location: object) -> list[list[float]]:
    return np.concatenate(list(open_laws(str(location)).chunks(2))).tolist()


def stored(array: object) -> bytes:
    held = io.BytesIO()
    np.save(held, array, allow_pickle=True)
    return held.getvalue()


ODD = {
    "fortran": stored(np.asfortranarray(LAWS)),
    "text": stored(np.array(["a", "bc"])),
    "objects": stored(np.array([None, {}], dtype=object)),
    "record": stored(np.zeros(2, dtype=[("a", "f4"), ("b", "i2")])),
    "empty": stored(np.zeros((0, 3))),
    "scalar": stored(np.float64(1.0)),
    "cut": stored(LAWS)[:20],
    "nothing": b"",
    "dates": stored(np.array(["2020-01-01"], dtype="datetime64[D]")),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_one_odd_array_of_an_npz_condemns_itself_alone(tmp_path: Path, odd: str, method: int) -> None:
    path = tmp_path / "laws.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(f"{odd}.npy", ODD[odd])
        archive.writestr("laws.npy", stored(LAWS))
        archive.writestr("README.txt", "no array")
    assert rows(f"{path}:laws") == LAWS.tolist()
    with pytest.raises(LawFileError, match=r"laws\.npz: "):
        open_laws(f"{path}:{odd}")
    with pytest.raises(LawFileError, match=r"it holds the arrays .*laws.*; name one"):
        open_laws(path)
    with pytest.raises(LawFileError, match=r"there is no .README\.txt"):
        open_laws(f"{path}:README.txt")


def test_the_array_of_an_npz_beside_a_text_needs_no_name(tmp_path: Path) -> None:
    path = tmp_path / "laws.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.txt", "no array")
        archive.writestr("laws.npy", stored(LAWS))
    assert rows(path) == LAWS.tolist()


@pytest.mark.parametrize("odd", [np.arange(3), np.zeros((2, 2, 2)), np.zeros(0), np.array([True]), np.zeros((1, 0))])
def test_one_odd_array_of_safetensors_condemns_itself_alone(tmp_path: Path, odd: np.ndarray) -> None:
    path = tmp_path / "laws.safetensors"
    safetensors.numpy.save_file({"laws": LAWS, "odd": odd}, path)
    assert rows(f"{path}:laws") == LAWS.tolist()
    with pytest.raises(LawFileError, match=r"distributions are stored as|distributions need the shape"):
        open_laws(f"{path}:odd")


def test_a_type_that_numpy_lacks_condemns_itself_alone(tmp_path: Path) -> None:
    """Eight-bit floats, written by hand: 8 bytes of length, a JSON header, the data."""
    header = {
        "odd": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]},
        "laws": {"dtype": "F64", "shape": [3, 2], "data_offsets": [2, 50]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = tmp_path / "laws.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0\0" + LAWS.tobytes())
    assert rows(f"{path}:laws") == LAWS.tolist()
    with pytest.raises(LawFileError, match=r"laws\.safetensors: "):
        open_laws(f"{path}:odd")


NAMES = ["model:logits", ":", "a::b", "step:1:draft", "x.npz:y", "C:\\laws", "x.safetensors:"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", ["plain", "run:3", "old.npz:copies"])
def test_names_hold_colons(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / folder).mkdir()
    for path, save in (
        (tmp_path / folder / "laws.npz", lambda path: np.savez(path, **{name: LAWS, "other": LAWS[:1]})),
        (tmp_path / folder / "laws.safetensors", lambda p: safetensors.numpy.save_file({name: LAWS, "o": LAWS}, p)),
    ):
        save(path)
        assert rows(f"{path}:{name}") == LAWS.tolist()


def test_a_file_with_a_colon_is_opened_without_a_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "laws.npz:1.npz", laws=LAWS)
    assert rows(tmp_path / "laws.npz:1.npz") == LAWS.tolist()
    assert rows(f"{tmp_path / 'laws.npz:1.npz'}:laws") == LAWS.tolist()
    np.savez(tmp_path / "laws.npz", **{"1.npz": LAWS})
    with pytest.raises(LawFileError, match="are both files; rename one"):
        open_laws(tmp_path / "laws.npz:1.npz")


def test_a_file_that_is_not_there_is_named_without_its_array(tmp_path: Path) -> None:
    with pytest.raises(LawFileError, match=r"none\.npz: there is no such file"):
        open_laws(tmp_path / "none.npz:a:b")


# Byte-order marks.

TOKENS = ["a", "b", "ab"]


def marked(path: Path, text: str) -> Path:
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    return path


def test_a_marked_tokenizer_json_is_read_and_tokenises(tmp_path: Path) -> None:
    content = json.dumps(
        {
            "version": "1.0",
            "added_tokens": [],
            "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]},
        }
    )
    path = marked(tmp_path / "tokenizer.json", content)
    assert read_vocabulary(path).tokens == tuple(token.encode() for token in TOKENS)
    tokenizer, how = read_tokenizer(path)
    assert tokenizer.encode("aba") == (2, 0)
    assert how in ("by its own tokeniser", "by longest prefixes")


def test_a_marked_tiktoken_file_is_read(tmp_path: Path) -> None:
    path = marked(tmp_path / "mine.tiktoken", "YQ== 0\nYg== 1\nYWI= 2\n")
    assert read_vocabulary(path).tokens == (b"a", b"b", b"ab")
    assert read_tokenizer(path)[0].encode("aba") == (2, 0)


def test_a_marked_list_of_tokens_is_read(tmp_path: Path) -> None:
    assert read_vocabulary(marked(tmp_path / "tokens.json", json.dumps(TOKENS))).tokens == (b"a", b"b", b"ab")


def test_other_marked_texts_are_read(tmp_path: Path) -> None:
    assert names_of(marked(tmp_path / "names.json", '["x", "y"]'), 2) == ["x", "y"]
    table = Table.load(marked(tmp_path / "table.json", '{"rows": {"": ["1/4", "3/4"]}, "context": 0}'))
    assert [str(mass) for mass in table(())] == ["1/4", "3/4"]
    assert text_of(marked(tmp_path / "text.txt", "said")) == "said"
    assert _tokens(marked(tmp_path / "tokens.txt", "0, 1 2")).tolist() == [0, 1, 2]
    assert _tokens(marked(tmp_path / "tokens.json", "[0, 1]")).tolist() == [0, 1]
    certificate = transport.solve(["1/4", "3/4"], {(0,): "1/2", (1,): "1/2"})
    certificate.save(tmp_path / "proof.json")
    text = (tmp_path / "proof.json").read_text(encoding="utf-8")
    assert load(marked(tmp_path / "proof.json", text)) == certificate


def test_a_mark_of_another_encoding_is_named(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-be"):
        path = tmp_path / "tokens.json"
        mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
        path.write_bytes(mark + json.dumps(TOKENS).encode(encoding))
        with pytest.raises(ValueError, match="says UTF-16; tokeniser files are UTF-8"):
            read_vocabulary(path)
    path.write_bytes(codecs.BOM_UTF8)
    with pytest.raises(ValueError, match="is empty"):
        read_vocabulary(path)


def test_the_embedded_corpus_has_no_mark() -> None:
    assert "\ufeff" not in corpus.documentation().names
