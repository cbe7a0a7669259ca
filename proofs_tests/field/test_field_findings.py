"""What the field's page says, against formulas of its own: coins multiplied, a rule written down, reports, controls."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.field import recorded, stand_ins, worker  # noqa: E402
from spec_math.field.cases import SMALL, FieldCase  # noqa: E402
from spec_math.field.catalogue import ENGINES, named  # noqa: E402
from spec_math.field.engine import Repository  # noqa: E402
from spec_math.field.engine_law import engine_law, loaded  # noqa: E402
from spec_math.field.engines import serving  # noqa: E402
from spec_math.field.engines.vllm_ports import topk_mask, topp_mask  # noqa: E402
from spec_math.field.judging import judged_case  # noqa: E402
from spec_math.field.page import PAGE, REPORTS, file_name, report, reportable, write_reports  # noqa: E402
from spec_math.field.worker import WorkerError, judged_apart  # noqa: E402
from torch_bridge.randomness.source import explore  # noqa: E402

HALF = Fraction(1, 2)


def _block_on_a_grid(bits: int) -> tuple[Fraction, Fraction]:
    """Drafts 0, 0, 0 of a sure draft, target (1/2, 1/2): the longest prefix of n is kept for which u1…un ≤ 2^-n."""
    many = 2**bits
    law: dict[tuple[int, ...], Fraction] = {}
    for coins in product([Fraction(k, many) for k in range(many)], repeat=3):
        whole, kept = Fraction(1), 0
        for place, coin in enumerate(coins, 1):
            whole *= coin
            kept = place if whole <= HALF**place else kept
        for last in (0, 1) if kept == 3 else (1,):
            text = (*[0] * kept, last)
            law[text] = law.get(text, Fraction(0)) + Fraction(1, many**3 * (2 if kept == 3 else 1))
    first = sum((mass for text, mass in law.items() if text[0] == 0), Fraction(0))
    off = Fraction(0)
    for text in product((0, 1), repeat=4):  # shorter texts go on as the target does
        mass = sum((m * HALF ** (4 - len(t)) for t, m in law.items() if text[: len(t)] == t), Fraction(0))
        off += abs(mass - HALF**4) / 2
    return abs(first - HALF), off


def test_multiplied_coins_are_recorded_as_a_grid_of_three_bits_has_them() -> None:
    small = recorded.read()["vllm-ascend block"]["smallest"][0]
    first, distance = _block_on_a_grid(3)
    assert (Fraction(small["first token"]), Fraction(small["distance"])) == (first, distance)


def test_multiplied_coins_without_a_grid_are_off_by_the_formula() -> None:
    """−log of a coin is exponential: three of them reach x = 3·log 2 with e^-x·(1 + x + x²/2), wanted is 1/8."""
    x = 3 * log(2)
    ideal = (x + x * x / 2) / 8
    assert f"{ideal:.3f}" == "0.530"
    many = 256
    coins = (np.arange(many) + 0.5) / many
    pairs = np.multiply.outer(coins, coins)
    all_kept = np.minimum(0.125 / pairs, 1).mean()  # the third coin's chance, over midpoints of the first two
    assert abs(all_kept - 0.125 - ideal) < 1e-4
    cause = next(one for one in ENGINES if one.name == "vllm-ascend block").defects[0].cause
    assert f"{ideal:.2f}" in cause


def test_the_rule_of_openvino_as_written_down_has_the_law_of_its_formula() -> None:
    engine = serving.OPENVINO
    module = loaded(engine, recorded.ROOT)
    case = SMALL[3]  # target (1/4, 3/4), draft (3/4, 1/4)
    law: Any = engine_law(engine, module, case.models, 1)
    first = sum(float(mass) for text, mass in law.items() if text[0] == 0)
    # Draft 0 is always kept; draft 1 is rejected where 1 was drawn and the coin is above 1/3: 67 values of 101.
    rejected = Fraction(1, 4) * Fraction(3, 4) * Fraction(67, 101)
    assert first == pytest.approx(float(Fraction(3, 4) + rejected / 4), abs=1e-12)
    assert judged_case(engine, module, FieldCase(case, 1))["verdict"] == "lossy"
    mended = loaded(engine, recorded.ROOT, engine.defects[0].mend)
    assert judged_case(engine, mended, FieldCase(case, 1))["verdict"] == "lossless"
    control = loaded(engine, recorded.ROOT, (*engine.defects[0].mend, engine.control))
    assert judged_case(engine, control, FieldCase(case, 1))["verdict"] == "lossy"


def test_the_wheel_of_openvino_drew_as_the_rule_that_is_written_down() -> None:
    """Hoeffding: a share of n draws is off by more than √(log(2/α)/2n) with a chance below α."""
    wheel, alone = (
        (int(kept.replace(",", "")), int(texts.replace(",", "")))
        for kept, texts in re.findall(r"is 0 in ([\d,]+) of ([\d,]+)", PAGE.read_text(encoding="utf-8"))
    )
    law = 0.75 + 0.25 * 0.75 * (67 / 101) / 4
    for (zeros, texts), mass, other in ((wheel, law, 0.25), (alone, 0.25, law)):
        off = sqrt(log(2 / 1e-6) / (2 * texts))
        assert abs(zeros / texts - mass) < off
        assert abs(zeros / texts - other) > off  # the control: neither is the other's law


def test_a_uniform_times_a_zero_of_a_tensor_is_compared_as_zero() -> None:
    masses = torch.tensor([0.0, 0.5])
    assert explore(lambda: bool(masses[0] > torch.rand(2)[0] * masses[0])) == {False: 1.0}
    assert explore(lambda: bool(masses[1] > torch.rand(2)[0] * masses[0])) == {True: 1.0}
    assert explore(lambda: bool(masses[0] >= torch.rand(2)[0] * masses[0])) == {True: 1.0}


def test_the_masks_of_tpu_inference_keep_what_theirs_keep() -> None:
    logits = np.log([[0.5, 0.125, 0.375], [0.25, 0.5, 0.25]])
    kept = topk_mask(logits, np.array([2, 2]), -np.inf)
    assert np.isfinite(kept).tolist() == [[True, False, True], [True, True, True]]  # ties of the last are kept
    kept = topp_mask(logits, np.array([0.8, 0.5]), -np.inf)
    assert np.isfinite(kept).tolist() == [[True, False, True], [False, True, False]]


def test_the_stand_in_of_jax_takes_the_promises_that_segments_are_called_with() -> None:
    data, segments = np.array([3, 1, 2]), np.array([0, 0, 1])
    assert stand_ins.segment_min(data, segments, 2, indices_are_sorted=True).tolist() == [1, 2]


def test_what_is_recorded_names_the_causes_and_mends_of_the_records() -> None:
    known = {engine.name: engine for engine in ENGINES}
    for name, found in recorded.read().items():
        said = [(one["cause"], [tuple(edit) for edit in one["mend"]]) for one in found["defects"]]
        assert said == [(one.cause, [edit[:2] for edit in one.mend]) for one in known[name].defects], name
        by_design = any(one.by_design for one in known[name].defects)
        assert reportable(found) == (found["verdict"] in ("lossy", "raises") and not by_design), name


def test_the_reports_are_what_is_recorded_byte_by_byte(tmp_path: Path) -> None:
    known = recorded.read()
    written = {path.name: path.read_bytes() for path in write_reports(known, tmp_path)}
    assert {path.name: path.read_bytes() for path in REPORTS.glob("*.md")} == written
    for found in known.values():
        if not reportable(found):
            assert file_name(found) not in written
            with pytest.raises(ValueError, match="no defect to report"):
                report(found)
            continue
        text = report(found)
        assert ("rewritten in Python from the source" in text) == ("restated" in found)
        assert ("run as it was published, on every path" in text) == ("restated" not in found)
        for wanted in (
            found["smallest"][-1]["case"][1:],
            *(one["cause"] for one in found["defects"]),
            "spec-math audit",
        ):
            assert wanted in text


def test_a_mend_that_is_recorded_leaves_nothing_lossy() -> None:
    for name, found in recorded.read().items():
        words = {one["verdict"] for one in found.get("mended", {}).get("cases", [])}
        assert not words & {"lossy", "raises"}, name


OF_A_REPOSITORY = next(engine for engine in ENGINES if isinstance(engine.source, Repository))


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_a_copy_without_a_commit_is_refused(tmp_path: Path, monkeypatch: Any, content: str | None) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if content is not None:
        (tmp_path / ".commit").write_text(content)
    with pytest.raises(recorded.ArchiveError, match=r"no git checkout and no file \.commit in it says one: name a"):
        recorded.source_of(OF_A_REPOSITORY, {OF_A_REPOSITORY.name: tmp_path})
    with pytest.raises(recorded.ArchiveError, match="is no folder: name a checkout"):
        recorded.source_of(OF_A_REPOSITORY, {OF_A_REPOSITORY.name: tmp_path / "nowhere"})


def test_a_copy_has_the_commit_that_its_file_says_or_git(tmp_path: Path) -> None:
    inside, apart = tmp_path / "repository" / "copy", tmp_path / "repository"
    inside.mkdir(parents=True)
    for command in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm.", "--allow-empty"]):
        subprocess.run(["git", "-C", str(apart), *command], check=True)
    (inside / ".commit").write_text("c0ffee\n")
    found = [recorded.source_of(OF_A_REPOSITORY, {OF_A_REPOSITORY.project: one})[1] for one in (apart, inside)]
    assert (len(found[0]["commit"]), found[1]["commit"]) == (40, "c0ffee")


def test_engines_are_named_by_their_project_and_none_by_nothing() -> None:
    assert {engine.name for engine in named("jd-opensource/xllm")} == {"xLLM"}
    with pytest.raises(ValueError, match="there is no engine ''"):
        named("")


@pytest.mark.parametrize(
    ("name", "edits", "said"),
    [("vLLM", [], "triton|there is no"), ("specdec", [], "specdec"), ("xLLM", [("nowhere", "")], "nowhere")],
)
def test_the_process_of_an_engine_that_cannot_be_loaded_answers_with_the_reason(
    tmp_path: Path, name: str, edits: list[Any], said: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """What the process runs, here: it once ended with a traceback, and the reason was lost."""
    root = recorded.ROOT if edits else tmp_path
    asked = {"name": name, "root": str(root), "edits": edits, "mark": "mark"}
    monkeypatch.setattr(sys, "argv", ["worker", json.dumps(asked)])
    monkeypatch.setattr(sys, "addaudithook", lambda _: None)  # no hook is ever taken away again
    worker.main()
    answer = json.loads(capsys.readouterr().out.splitlines()[-1].removeprefix("mark"))
    assert re.search(said, answer[worker.CANNOT])


def test_an_engine_that_cannot_be_loaded_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"specdec cannot be judged here: .*specdec"):
        judged_apart(named("specdec")[0], tmp_path)
