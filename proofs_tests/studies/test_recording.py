"""Two models of one's own: what is kept of their laws, runs that go on and repeat, and the command with tiny models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from proofs_tests.studies.live_models import ASKED, SIZE, Live, pair, quiet, short_blocks
from spec_math import array_coin
from spec_math.block_level import chain
from spec_math.cli import app
from spec_math.distribution import heated_law
from spec_math.language import Recorded
from spec_math.language.tempered import heated
from spec_math.render.data import as_json
from spec_math.studies.advice.study import WRITTEN
from spec_math.studies.frontier.study import FrontierRequest, recorded


@pytest.fixture(scope="module", autouse=True)
def _short() -> Iterator[None]:
    with short_blocks():
        yield


def test_a_kept_law_is_within_its_rest_and_rounding(tmp_path: Path) -> None:
    live = Live(0)
    model = Recorded(tmp_path, "target", SIZE, 4, live)
    for token in range(SIZE):
        wanted, held = live.rows[token], model((token,))
        rest = 1 - np.sort(wanted)[-4:].sum()
        assert abs(held.sum() - 1) < 2.0**-50
        # Masses are rounded to float32, and divided by a sum that is off by as much.
        assert np.abs(held - wanted).sum() / 2 <= rest + 2.0**-22
        assert sorted(np.argsort(-held, kind="stable")[:4]) == sorted(np.argsort(-wanted, kind="stable")[:4])
    assert model.largest_rest <= max(1 - np.sort(row)[-4:].sum() for row in live.rows) + 2.0**-22


def test_what_it_costs_is_bounded_as_said(tmp_path: Path) -> None:
    """One plain chain of two tokens: by how much its length moves, against L(L + 1) times both rests."""
    target, draft = (Recorded(tmp_path, role, SIZE, 3, Live(seed)) for role, seed in (("target", 0), ("draft", 1)))
    live = Live(0), Live(1)

    def wanted(prefix: tuple[int, ...]) -> Any:
        return live[0].rows[prefix[-1]]

    def drafted(prefix: tuple[int, ...]) -> Any:
        return live[1].rows[prefix[-1]]

    moved = abs(chain.expected(target, draft, (0,), 2) - chain.expected(wanted, drafted, (0,), 2))
    assert 0 < moved <= 6 * (target.largest_rest + draft.largest_rest)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    model = Recorded(tmp_path, "target", SIZE, 4, Live(0))
    rows = model.rows_after([(0,), (1, 2), (2,)])
    model.write()
    again = Recorded(tmp_path, "target", SIZE, 4)
    assert [row.tolist() for row in again.rows_after([(0,), (1, 2), (2,)])] == [row.tolist() for row in rows]
    with pytest.raises(LookupError, match="not recorded"):
        _ = again((5,))
    with pytest.raises(ValueError, match="recorded with other sizes"):
        _ = Recorded(tmp_path, "target", SIZE, 5)


def test_a_recorded_model_at_a_temperature_answers_many_at_once(tmp_path: Path) -> None:
    model = Recorded(tmp_path, "target", SIZE, 4, Live(0))
    warm: Any = heated(model, 0.5)
    assert [row.tolist() for row in warm.rows_after([(0,), (1,)])] == [warm((0,)).tolist(), warm((1,)).tolist()]


def test_a_recording_is_compared_again_without_models(tmp_path: Path) -> None:
    first = recorded(tmp_path, pair(), ASKED, quiet)
    assert as_json(recorded(tmp_path, None, ASKED, quiet)) == as_json(first)
    # The control: other drafts are not recorded.
    with pytest.raises(LookupError, match="not recorded"):
        _ = recorded(tmp_path, None, FrontierRequest(budgets="4", samples=40, seed=9), quiet)


def test_an_interrupted_recording_goes_on(tmp_path: Path) -> None:
    broken = pair(most=8)
    with pytest.raises(KeyboardInterrupt):
        _ = recorded(tmp_path, broken, ASKED, quiet)
    went_on, fresh = pair(), pair()
    whole = recorded(tmp_path / "fresh", fresh, ASKED, quiet)
    assert as_json(recorded(tmp_path, went_on, ASKED, quiet)).replace(str(tmp_path), "") == as_json(whole).replace(
        str(tmp_path / "fresh"), ""
    )
    assert 0 < went_on.target.asked < fresh.target.asked  # type: ignore[attr-defined]


def test_another_recording_in_the_folder_is_refused(tmp_path: Path) -> None:
    _ = recorded(tmp_path, pair(), ASKED, quiet)
    with pytest.raises(ValueError, match="another keep"):
        _ = recorded(tmp_path, pair(keep=4), ASKED, quiet)


def saved(folder: Path, seed: int, width: int) -> Path:
    """A tiny random Llama with a tokeniser of single words."""
    torch, transformers, tokenizers = (pytest.importorskip(name) for name in ("torch", "transformers", "tokenizers"))
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=SIZE,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        initializer_range=1.0,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    words = {word: at for at, word in enumerate(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="l"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    return folder


def test_prefixes_of_any_lengths_together_are_those_alone(tmp_path: Path) -> None:
    """Padding behind changes nothing but the order of sums: 2^-18 is 32 roundings of float32 masses near 1."""
    _ = saved(tmp_path, 0, 8)
    from torch_bridge import causal_model

    model = causal_model.load(str(tmp_path))
    prefixes = [(1,), (2, 3, 4), (5, 6), (7,) * 9]
    rows = model(prefixes)
    for prefix, row in zip(prefixes, rows, strict=True):
        assert np.abs(model([prefix])[0] - row).max() < 2.0**-18
    # The control: the row of another prefix is not near.
    assert np.abs(rows[0] - rows[1]).max() > 2.0**-10
    with pytest.raises(ValueError, match="empty prefix"):
        _ = model([()])


def test_two_models_are_recorded_and_compared_in_one_command(tmp_path: Path) -> None:
    models = [saved(tmp_path / name, seed, width) for name, seed, width in (("t", 0, 8), ("d", 1, 4))]
    (tmp_path / "text.txt").write_text("a b c d e f g h i j k l " * 3)
    common = ["record", f"{tmp_path}/laws", "--nodes", "2,4", "--samples", "12", "--keep", "8"]
    live = ["--target", str(models[0]), "--draft", str(models[1]), "--text", f"{tmp_path}/text.txt"]
    answer = CliRunner().invoke(app, [*common, *live, "--out", f"{tmp_path}/one.json"])
    assert answer.exit_code == 0, answer.output
    assert "distributions are recorded with 8 tokens each" in (tmp_path / "one.json").read_text()
    again = CliRunner().invoke(app, [*common, "--out", f"{tmp_path}/two.json"])
    assert again.exit_code == 0, again.output
    assert json.loads((tmp_path / "one.json").read_text()) == json.loads((tmp_path / "two.json").read_text())
    half = CliRunner().invoke(app, [*common, *live[:2]])
    assert (half.exit_code, "come together" in half.output) == (2, True)


def test_a_model_writes_tokens_that_are_drawn_from_its_rows(tmp_path: Path) -> None:
    """With what it has read kept, against the rows after each beginning, which are asked for anew."""
    from torch_bridge import causal_model

    model, prefix = causal_model.load(str(saved(tmp_path, 0, 8))), (1, 2, 3)
    tokens, rows = model.written(prefix, 6, np.random.default_rng(0), 0.5)
    assert tokens == array_coin.drawn(rows, np.random.default_rng(0).random(6)).tolist()
    after = model([(*prefix, *tokens[:place]) for place in range(6)])
    for found in (rows, model.along(prefix, tokens, 0.5)):
        assert np.abs(heated_law(after, 0.5) - found).max() < 2.0**-18
    # The control: rows of another temperature, and those of the token before, are not near.
    assert np.abs(after - rows).max() > 2.0**-10 < np.abs(heated_law(after, 0.5)[:-1] - rows[1:]).max()


def test_advice_on_two_models_is_that_on_their_recorded_texts(tmp_path: Path) -> None:
    from torch_bridge import causal_model

    names = [str(saved(tmp_path / name, seed, width)) for name, seed, width in (("t", 0, 8), ("d", 1, 4))]
    text = tmp_path / "text.txt"
    text.write_text("a b c d e f g h i j k l " * 3)
    common = ["advise", "--costs", "target=20ms; draft=1ms", "--k", "1,2", "--lookahead", "3"]
    asked = ["--target", names[0], "--draft", names[1], "--text", str(text)]
    live = CliRunner().invoke(app, [*common, *asked, "--samples", "4", "--out", f"{tmp_path}/one.json"])
    assert live.exit_code == 0, live.output
    target, draft = (causal_model.load(name) for name in names)
    rng, tokens, rows = np.random.default_rng(0), list[int](), list[Any]()
    for prefix in causal_model.windows(names[0], text, 4):
        own, laws = target.written(prefix, WRITTEN, rng)
        tokens += own
        rows.append((laws, draft.along(prefix, own)))
    for name, side in zip("td", zip(*rows, strict=True), strict=True):
        np.save(tmp_path / f"{name}.npy", np.concatenate(side))
    np.save(tmp_path / "x.npy", np.array(tokens))
    files = ["--target", f"{tmp_path}/t.npy", "--draft", f"{tmp_path}/d.npy", "--tokens", f"{tmp_path}/x.npy"]
    documents = ["--documents", ",".join([str(WRITTEN)] * len(rows))]
    recording = CliRunner().invoke(app, [*common, *files, *documents, "--out", f"{tmp_path}/two.json"])
    assert recording.exit_code == 0, recording.output
    one, two = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("one", "two"))
    assert (one["finding"], one["tables"]) == (two["finding"], two["tables"])
    half = CliRunner().invoke(app, [*common, *asked[2:]])
    assert (half.exit_code, "--text goes with --target and --draft" in half.output) == (2, True)
    absent = CliRunner().invoke(app, [*common, *asked[2:], "--target", str(tmp_path / "no model")])
    assert (absent.exit_code, "no folder of a model" in absent.output) == (2, True)
    sharper = CliRunner().invoke(app, [*common, *asked, "--samples", "4", "--temperature", "0.5"])
    assert (sharper.exit_code, sharper.output == live.output) == (0, False)
