"""Verdicts and sentences of the command engine that an engine of some other kind would make false."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from proofs_tests.engines.commands import run
from spec_math.engines import study as of_engines
from spec_math.engines.options import processed
from spec_math.engines.pair import PairShape, tables, write
from spec_math.engines.protocol import About, Recorded, about_of, answer_of
from spec_math.engines.questions import Case, CaseRun
from spec_math.engines.releases import turned
from spec_math.engines.report import told
from spec_math.engines.stub import Stub
from spec_math.engines.study import EngineRequest, audit_engine, cases_of
from spec_math.result import Result
from spec_math.studies.arguments import no_progress

DRIVER = """
import json, sys
from dataclasses import asdict
from pathlib import Path
import numpy as np
from spec_math.engines.pair import read
from spec_math.engines.protocol import Request
from spec_math.engines.stub import Stub
pair, mode = read(Path(sys.argv[1])), sys.argv[2] if len(sys.argv) > 2 else ""
if mode == "sharper": pair.target.whole *= 1.13
stub = Stub(pair, "redraw" if mode in ("no plain", "fixed") else "none")
about = {"engine": "mine", "adjustable": mode != "fixed", "logprobs": "processed" if mode == "infinite" else ""}
print(json.dumps(about), flush=True)
for line in sys.stdin:
    said = json.loads(line)
    asked = [Request(tuple(r["prompt"]), r["number"], r["options"], r["seed"]) for r in said["requests"]]
    answers = [asdict(a) for a in stub.ask(asked, said["lookahead"])]
    if mode == "infinite": answers = [a | {"logprobs": [float("-inf")] * len(a["tokens"])} for a in answers]
    if mode == "no plain" and said["lookahead"] == 0: answers = [{"refused": "no\\x1b[1m \\ud800"}] * len(answers)
    print(json.dumps({"answers": answers}), flush=True)
"""


@pytest.fixture
def driver(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(DRIVER, encoding="utf-8")
    return str(tmp_path / "mine.py")


def test_an_engine_that_is_a_little_wrong_without_speculation_is_told_apart(driver: str) -> None:
    """A quarter of the tokens does not see it: as many are asked as the failure with speculation took."""
    code, said = run(driver, "--kind", "tables", "--speculative", "sharper", "--samples", "8000")
    assert code == 1
    assert "mine: wrong already without speculation" in said
    assert "Speculation fails too, which cannot be told from this." in said


def test_what_refuses_to_decode_without_speculation_is_not_called_right_there(driver: str, tmp_path: Path) -> None:
    code, said = run(
        *(driver, "--kind", "tables", "--speculative", "no plain", "--samples", "2000"), "--out", str(tmp_path / "out")
    )
    assert code == 1
    assert "It was not asked without speculation." in said
    assert "nothing is wrong" not in said
    suite = fromstring((tmp_path / "out" / "engine.junit.xml").read_text(encoding="utf-8"))
    assert {one.get("message") for one in suite.iter("skipped")} == {"no [1m  "}


def test_an_engine_whose_lookahead_is_fixed_is_started_again(driver: str) -> None:
    code, said = run(driver, "--kind", "tables", "--speculative", "fixed", "--samples", "3000")
    assert code == 1
    assert "A new process gives the same texts for the same seeds." in said


def test_log_probabilities_of_minus_infinity_are_wrong(driver: str) -> None:
    code, said = run(driver, "--kind", "tables", "--speculative", "infinite", "--samples", "600")
    assert code == 1
    assert "log-probabilities are not the target's" in said


class Greedy(Stub):
    """Always the likeliest token, under speculation, whatever is asked."""

    def _decoded(self, run: Any, k: int) -> Any:
        self._k = k
        return super()._decoded(run, k)

    def _law(self, *arguments: Any, **named: Any) -> Any:
        law = super()._law(*arguments, **named)
        return (np.arange(len(law)) == law.argmax()).astype(float) if self._k else law


def test_a_wrong_distribution_is_not_called_shared_random_numbers() -> None:
    pair = tables(PairShape())
    engine = Greedy(pair)
    cases = [case for case in cases_of(EngineRequest("x", samples=4000), engine.about) if case.name == "no options"]
    found: list[CaseRun] = audit_engine(engine, pair, cases[1:], (1e-6, 0), no_progress)
    assert any(failure.question.startswith("independence of requests") for failure in found[0].failures)
    assert told(found[0]).startswith("tokens do not have the exact distribution")


@pytest.mark.parametrize(("draft", "which"), [("equal", "rejected"), ("disjoint", "accepted")])
def test_a_pair_on_which_speculation_does_nothing_decides_nothing(tmp_path: Path, draft: str, which: str) -> None:
    write(PairShape(draft=draft), tmp_path)
    code, said = run("stub:redraw", "--pair", str(tmp_path), "--samples", "5000", "--alpha", "1e-4")
    assert (code, f"None of the drafted tokens was {which}: speculation was not tested." in said) == (3, True)


def test_without_speculation_losslessness_stays_undecided() -> None:
    code, said = run("stub", "--lookahead", "0", "--samples", "5000")
    assert (code, "Only plain decoding was asked" in said) == (3, True)


def test_the_distance_that_would_be_found_is_said_of_options_too() -> None:
    code, said = run("stub", "--samples", "5000", "--option", "top_p=0.6")
    assert (code, "without options, and one of 0.2" in said) == (0, True)


def test_a_run_cut_off_while_it_is_narrowed_down_says_nothing_of_what_was_not_asked(tmp_path: Path) -> None:
    code, said = run("stub:redraw", "--out", str(tmp_path), "--samples", "2000", "--alpha", "1e-4")
    assert "The smallest lookahead" in said
    lines = (tmp_path / "texts.jsonl").read_text().splitlines(keepends=True)
    # Without the note and the last calls, and with half a line, as where a process is ended.
    (tmp_path / "texts.jsonl").write_text("".join(lines[:-8]) + lines[-8][:100])
    again, repeated = run(str(tmp_path / "texts.jsonl"))
    assert (again, code) == (1, 1)
    assert "The smallest lookahead" not in repeated
    (tmp_path / "texts.jsonl").write_text("".join(lines[:60]))
    assert "The texts end in case" in run(str(tmp_path / "texts.jsonl"))[1]


def test_recorded_texts_are_kept_from_a_second_run(tmp_path: Path) -> None:
    """Their pair would be replaced, and they would be judged by other weights."""
    assert run("stub", "--samples", "100", "--out", str(tmp_path))[0] == 3
    before = (tmp_path / "texts.jsonl").read_bytes(), (tmp_path / "pair" / "target" / "model.safetensors").read_bytes()
    code, said = run("stub", "--samples", "100", "--seed", "1", "--out", str(tmp_path))
    assert (code, "holds texts already" in said) == (2, True)
    after = (tmp_path / "texts.jsonl").read_bytes(), (tmp_path / "pair" / "target" / "model.safetensors").read_bytes()
    assert before == after
    assert len(Recorded(tmp_path / "texts.jsonl").setting) > 0


@pytest.mark.parametrize(
    "option", ['logit_bias={"40": 1}', "logit_bias=3", "bad_words=[[]]", "bad_words=[[77]]", "top_k=2.5", "min_p=2"]
)
def test_an_option_that_no_pair_has_is_bad_input(option: str) -> None:
    code, said = run("stub", "--samples", "100", "--option", option)
    assert (code, "this cannot be applied to 32 tokens, or leaves none" in said) == (2, True)


def test_an_option_of_a_token_that_a_small_pair_has_not_is_narrowed_down() -> None:
    code, said = run("stub:bias_on_bonus", "--samples", "4000", "--option", 'logit_bias={"10": 3}')
    assert (code, "A vocabulary of 16 tokens is enough to see it." in said) == (1, True)


def test_the_shape_that_is_asked_for_is_the_shape_of_the_pair() -> None:
    assert (
        "on a tied pair of tables with 32 tokens and a draft that is far"
        in (run("stub", "--target", "tied", "--draft", "far", "--samples", "100")[1])
    )


@pytest.mark.parametrize("field", ["logprobs", "accepted", "counts"])
def test_numbers_beyond_reason_are_refused(field: str) -> None:
    request = of_engines.Request((0,), 2)
    with pytest.raises(ValueError, match="the engine answered"):
        _ = answer_of({"tokens": [1, 1], field: [10**400, 0]}, request, 4)
    with pytest.raises(ValueError, match="accepted counts"):
        _ = answer_of({"tokens": [1, 1], "accepted": [-1]}, request, 4)


def test_an_undecided_release_is_not_a_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = {"1": 1, "2": 3, "3": 0}
    own = of_engines.study

    def judged(asked: EngineRequest, _: Any) -> Result:
        return Result("engine", "", "", (), exit_code=codes[asked.version or ""])

    def listed(_: str) -> list[str]:
        return list(codes)

    monkeypatch.setattr(of_engines, "released", listed)
    monkeypatch.setattr(of_engines, "study", judged)
    said = own(EngineRequest("vllm", since="1", until="3"), no_progress).finding
    assert said == "The failure went between 1 and 3 (2 could not be tried)."
    assert str(turned(["1"], lambda _: None)) == "No release of this span could be tried."


def test_releases_of_an_engine_without_packages_are_bad_input() -> None:
    code, said = run("stub", "--since", "1")
    assert (code, "no package is known of 'stub'" in said) == (2, True)


def test_settings_written_are_read_back(tmp_path: Path) -> None:
    assert run("stub", "--target", "sharp", "--samples", "100", "--out", str(tmp_path))[0] == 3
    setting = json.loads((tmp_path / "texts.jsonl").read_text().splitlines()[0])["setting"]
    assert (setting["target"], setting["draft"], setting["kind"]) == ("sharp", "near", None)


def test_a_bad_word_that_begins_in_the_prompt_decides_nothing() -> None:
    """transformers forbids its end after a prompt, vLLM does not; both are judged by what they agree on."""
    prompts, texts = [(5, 3), (5,), (5, 3)], [(), (3,), (2,)]
    found = processed(np.zeros((3, 6)), {"bad_words": [[3, 1]]}, prompts, texts)
    assert found.margins.tolist() == [0.0, np.inf, np.inf]
    assert found.masses[:, 1].tolist() == pytest.approx([1 / 6, 0, 1 / 6])


def test_every_two_options_are_asked_together_in_the_order_of_the_engine() -> None:
    """Top-k before top-p keeps fewer tokens than after it: the other order is found wrong."""
    cases = cases_of(EngineRequest(pairs=True), About("mine", plain=False))
    assert sum(len(case.options) == 2 for case in cases) == 45
    case = Case("top_k with top_p", {"top_k": 3, "top_p": 0.6}, samples=2000)
    for order, failed in (((), False), (("top_p", "top_k"), True)):
        pair = tables(PairShape(size=8))
        stub = Stub(pair)
        stub.about = about_of({**asdict(stub.about), "order": order})
        assert bool(audit_engine(stub, pair, [case], (1e-4, 0), no_progress)[0].wrong) is failed
