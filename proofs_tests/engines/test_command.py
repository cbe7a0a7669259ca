"""The command engine: its answers, exit codes, files, and errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.engines.commands import run

FEW = ["--samples", "2000", "--alpha", "1e-4"]


def test_a_right_engine_passes_with_what_would_have_been_found() -> None:
    code, said = run("stub", "--samples", "5000")
    assert code == 0
    assert "stub: nothing is wrong" in said
    assert "would have been found with probability 0.99. That is no proof." in said
    assert (
        "Texts of 64 tokens and more, preemption, prefix caches and other models than this pair were not tested."
        in said
    )


def test_a_lossy_engine_is_found_recorded_and_judged_again_without_it(tmp_path: Path) -> None:
    code, said = run("stub:redraw", "--out", str(tmp_path), *FEW)
    assert code == 1
    assert "stub: not lossless" in said
    assert "of the known bugs the nearest is: a rejection redraws from the target (M11)" in said
    assert "tokens. The smallest lookahead that was seen to fail is" in said
    told = json.loads((tmp_path / "engine.json").read_text())
    again, repeated = run(str(tmp_path / "texts.jsonl"), "--out", str(tmp_path / "again.json"))
    assert again == 1
    assert repeated.partition("wrote")[0] == said.partition("wrote")[0]
    assert json.loads((tmp_path / "again.json").read_text())["tables"] == told["tables"]


def test_an_option_that_is_ignored_is_named() -> None:
    code, said = run("stub:min_p_ignored", "--option", "min_p=0.3", "--option", "top_k=4", *FEW)
    assert code == 1
    assert "min_p=0.3: tokens look as if the option were ignored" in said
    for row in ("min_p=0.3 honoured ignored", "top_k=4 honoured honoured"):
        assert row in said


def test_a_run_that_was_cut_off_is_judged_as_far_as_it_went(tmp_path: Path) -> None:
    assert run("stub:redraw", "--out", str(tmp_path), *FEW)[0] == 1
    texts = tmp_path / "texts.jsonl"
    lines = texts.read_text().splitlines(keepends=True)
    texts.write_text("".join(lines[: len(lines) // 2]))
    code, said = run(str(texts))
    assert code in (1, 3)
    assert "no options lookahead 3" in said
    texts.write_text("".join(lines[:3]))
    code, said = run(str(texts))
    assert (code, "undecided" in said) == (3, True)


def test_an_engine_that_dies_loses_no_text(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(
        "import json, sys\n"
        "print(json.dumps({'engine': 'mortal'}), flush=True)\n"
        "for n, line in enumerate(sys.stdin):\n"
        "    if n == 6: sys.exit('out of memory')\n"
        "    asked = json.loads(line)['requests']\n"
        "    print(json.dumps({'answers': [{'tokens': [1] * one['number']} for one in asked]}), flush=True)\n"
    )
    pair, out = tmp_path / "pair", tmp_path / "out"
    assert run("pair", "--kind", "tables", "--out", str(pair))[0] == 0
    code, said = run(str(driver), "--pair", str(pair), "--out", str(out))
    assert code == 2
    assert "it wrote: out of memory" in said
    assert "the texts so far are judged by: spec-math engine" in said
    assert len((out / "texts.jsonl").read_text().splitlines()) == 7


def test_a_lookahead_that_cannot_be_told_is_refused(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text('print(\'{"engine": "fixed", "adjustable": false}\', flush=True)\ninput()\n')
    assert run("pair", "--kind", "tables", "--out", str(tmp_path / "pair"))[0] == 0
    code, said = run(str(driver), "--pair", str(tmp_path / "pair"), "--lookahead", "2")
    assert (code, "the lookahead of fixed is set where it is started" in said) == (2, True)


def test_too_few_tokens_decide_nothing() -> None:
    code, said = run("stub", "--samples", "200")
    assert code == 3
    assert "do not find a total variation of 0.1; raise --samples" in said


def test_a_draft_that_is_never_accepted_tests_no_speculation(tmp_path: Path) -> None:
    assert run("pair", "--kind", "tables", "--draft", "disjoint", "--out", str(tmp_path))[0] == 0
    code, said = run("stub", "--pair", str(tmp_path), "--samples", "5000")
    assert (code, "drafted tokens was accepted: speculation was not tested" in said) == (3, True)


def test_an_engine_that_is_wrong_without_speculation_is_told_apart(tmp_path: Path) -> None:
    """The control: a driver whose plain decoding has another temperature."""
    driver = tmp_path / "driver.py"
    driver.write_text(
        "import json, sys\n"
        "from pathlib import Path\n"
        "from dataclasses import asdict\n"
        "from spec_math.engines.pair import read\n"
        "from spec_math.engines.protocol import Request\n"
        "from spec_math.engines.stub import Stub\n"
        "stub = Stub(read(Path(sys.argv[1])))\n"
        "print(json.dumps(asdict(stub.about) | {'engine': 'hot', 'logprobs': ''}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    told = json.loads(line)\n"
        "    asked = [Request(tuple(r['prompt']), r['number'], {'temperature': 1.5} | r['options'], r['seed'])"
        " for r in told['requests']]\n"
        "    print(json.dumps({'answers': [asdict(a) for a in stub.ask(asked, told['lookahead'])]}), flush=True)\n"
    )
    pair = tmp_path / "pair"
    assert run("pair", "--kind", "tables", "--out", str(pair))[0] == 0
    code, said = run(str(driver), "--pair", str(pair), *FEW)
    assert code == 1
    assert "hot: wrong already without speculation" in said
    assert "Speculation fails too, which cannot be told from this." in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the engine, such as transformers or stub, or give the address of a server with --url"),
        (["--url", "http://127.0.0.1:9/v1"], "--url needs --pair"),
        (["vlm"], "there is no engine 'vlm'"),
        (["stub:typo"], "there is no planted bug 'typo'"),
        (["stub", "--option", "top_q=1"], "--option takes NAME=VALUE with one of"),
        (["stub", "--option", "top_p=x"], "--option top_p takes a number or JSON"),
        (["stub", "--option", "bad_words=x"], "--option bad_words takes a number or JSON"),
        (["stub", "--samples", "0"], "--samples must be"),
        (["stub", "--batch", "0"], "--batch must be"),
        (["stub", "--alpha", "2"], "alpha"),
        (["stub", "--pair", "nowhere"], "nowhere holds no pair of models"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["pair"], "a pair is written to a folder"),
        (["pair", "--out", "x", "--target", "steep"], "target is one of plain, sharp, flat, tied"),
    ],
)
def test_bad_input_leaves_with_2_and_a_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run(*arguments)
    assert (code, said in output) == (2, True), output


def test_an_engine_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    code, said = run("transformers")
    assert code == 2
    assert "pip install 'spec_math[torch,transformers]'" in said


def test_transformers_own_generate_is_asked_through_its_driver(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is an optional extra")
    pytest.importorskip("transformers", reason="transformers is not installed")
    code, said = run(
        "transformers", "--samples", "48", "--number", "4", "--option", "presence_penalty=1", "--out", str(tmp_path)
    )
    assert code == 3
    assert "transformers: undecided" in said
    assert "presence_penalty=1: refused (generate has no presence_penalty)" in said
    assert "Requests were asked one by one: batches were not tested." in said


UNSEEDED = """
import json, random, sys
print(json.dumps({"engine": "unseeded", "plain": False, "batch": 4}), flush=True)
for line in sys.stdin:
    texts = [[random.randrange(30) for _ in range(one["number"])] for one in json.loads(line)["requests"]]
    print(json.dumps({"answers": [{"tokens": text} for text in texts]}), flush=True)
"""


def test_whether_a_failure_moves_from_run_to_run_is_said(tmp_path: Path) -> None:
    driver = tmp_path / "unseeded.py"
    driver.write_text(UNSEEDED, encoding="utf-8")
    _, said = run("stub:redraw", *FEW)
    assert "A new process gives the same texts for the same seeds." in said
    assert "A vocabulary of 8 tokens is enough to see it." in said
    pair = tmp_path / "pair"
    assert run("pair", "--kind", "tables", "--out", str(pair))[0] == 0
    code, said = run(str(driver), "--pair", str(pair), *FEW)
    assert code == 1
    assert "A new process gives other texts for the same seeds." in said


FAILING = """
import json, sys
print(json.dumps({"engine": "failing", "plain": False, "seeds": False, "batch": 1}), flush=True)
for line in sys.stdin:
    many = len(json.loads(line)["requests"])
    print(json.dumps({"answers": [{"failed": "RuntimeError: max() of nothing"}] * many}), flush=True)
"""


def test_an_engine_that_breaks_is_an_answer_and_not_the_end(tmp_path: Path) -> None:
    driver = tmp_path / "failing.py"
    driver.write_text(FAILING, encoding="utf-8")
    code, said = run(str(driver), *FEW)
    assert code == 1
    assert "no options: the engine fails: RuntimeError: max() of nothing" in said
