"""Exact distributions of a pair: row by row, and by transformers' own forward pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec_math.engines.exact import Table, model_of, next_tokens
from spec_math.engines.options import softmax
from spec_math.engines.pair import DRAFTS, SHAPES, PairShape, read, tables, write


def test_rows_of_a_text_are_those_of_its_beginnings() -> None:
    model = tables(PairShape(size=6)).target
    assert isinstance(model, Table)
    (rows,) = model.rows([(2,)], [(0, 5, 3)])
    assert rows.tolist() == [model.row(prefix).tolist() for prefix in [(2,), (2, 0), (2, 0, 5)]]
    (alone,) = model.rows([()], [(4, 4)])
    assert alone.tolist() == [model.row(()).tolist(), model.row((4,)).tolist()]


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_draft_is_as_far_as_its_name_says(draft: str) -> None:
    pair = tables(PairShape(draft=draft))
    prompts = [(token,) for token in range(31)]
    t, d = (next_tokens(model, prompts, [()] * 31) for model in (pair.target, pair.draft))
    apart = np.abs(t - d).sum(axis=1) / 2
    least, most = {"near": (0.1, 0.6), "far": (0.4, 0.95), "equal": (0, 0), "disjoint": (1 - 1e-12, 1 + 1e-12)}[draft]
    assert least <= apart.min() <= apart.max() <= most


@pytest.mark.parametrize("shape", SHAPES)
def test_a_target_is_as_sharp_as_its_name_says(shape: str) -> None:
    pair = tables(PairShape(target=shape))
    masses = next_tokens(pair.target, [(token,) for token in range(31)], [()] * 31)
    largest = masses.max(axis=1).mean()
    assert {"plain": 0.1 < largest < 0.5, "sharp": largest > 0.4, "flat": largest < 0.2, "tied": True}[shape]
    if shape == "tied":
        assert masses[:, 0:30:2].tolist() == masses[:, 1:30:2].tolist()


def test_a_pair_of_tables_is_read_as_it_was_written(tmp_path: Path) -> None:
    shape = PairShape(size=7, seed=3)
    made, kept = tables(shape), write(shape, tmp_path)
    assert kept.shape == shape
    for one, other in ((made.target, kept.target), (made.draft, kept.draft)):
        assert isinstance(one, Table)
        assert isinstance(other, Table)
        assert (one.whole == other.whole).all()


def test_a_folder_without_a_pair_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="write one: spec-math engine pair --out"):
        read(tmp_path)
    with pytest.raises(ValueError, match="a pair has 4 to 32 tokens; got 3"):
        PairShape(size=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="torch is an optional extra")
    pytest.importorskip("transformers", reason="transformers is not installed")
    folder = tmp_path_factory.mktemp("pair")
    _ = write(PairShape("llama"), folder)
    return folder


def test_rows_are_those_of_the_library_s_own_forward_pass(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    prompts, texts = [(1, 2, 3), (4,)], [(5, 6), (7, 8, 9)]
    rows = model_of(folder / "target").rows(prompts, texts)
    plain: Any = AutoModelForCausalLM.from_pretrained(folder / "target", dtype=torch.float64).eval()
    for prompt, text, found in zip(prompts, texts, rows, strict=True):
        for j in range(len(text)):
            with torch.no_grad():
                wanted = plain(torch.tensor([[*prompt, *text[:j]]])).logits[0, -1].numpy()
            # The batched pass adds in another order: a few hundred operations of relative error 2^-53.
            assert np.abs(found[j] - wanted).max() < 1e-11


def test_the_allowance_is_above_what_single_precision_changes(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = model_of(folder / "target")
    single: Any = AutoModelForCausalLM.from_pretrained(folder / "target", dtype=torch.float32).eval()
    texts = [tuple(row) for row in np.random.default_rng(5).integers(0, 32, size=(20, 12)).tolist()]
    exact = model.rows([(0,)] * 20, texts)
    with torch.no_grad():
        rounded = single(torch.tensor([[0, *text[:-1]] for text in texts])).logits.numpy()
    worst = max(float(np.abs(one - other).max()) for one, other in zip(exact, rounded, strict=True))
    assert worst < model.rounding < 1e-3


def test_a_text_and_its_tokens_are_the_same_thing(folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder / "target")
    characters = PairShape("llama").characters
    assert tokenizer(characters).input_ids == list(range(32))
    assert tokenizer.decode([2, 0, 1, 4]) == "cabe"
    assert tokenizer.eos_token_id == 31


def test_the_same_description_gives_the_same_weights(folder: Path, tmp_path: Path) -> None:
    _ = write(PairShape("llama"), tmp_path)
    for part in ("target", "draft"):
        name = Path(part) / "model.safetensors"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_laws_are_neither_flat_nor_certain(folder: Path) -> None:
    pair = read(folder)
    prompts = [(token,) for token in range(31)]
    t, d = (
        softmax(np.array([row[-1] for row in model.rows(prompts, [(0,)] * 31)])) for model in (pair.target, pair.draft)
    )
    assert 0.1 < t.max(axis=1).mean() < 0.7
    assert 0.1 < (np.abs(t - d).sum(axis=1) / 2).mean() < 0.6
