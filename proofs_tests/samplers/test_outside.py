"""Samplers in other languages: right and wrong ones by both drivers, thresholds by bisection, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spec_math import law
from spec_math.cli import app
from spec_math.pathwise.atom import ExploreError
from spec_math.samplers import outside
from spec_math.samplers.case import chain, position
from spec_math.samplers.counts import judge_counts
from spec_math.samplers.outside import Answer, Bisected, Program, confirmed, program
from spec_math.samplers.subject import subject_of
from spec_math.verdict import Lossless, Lossy

LANGUAGES = Path(__file__).parents[2] / "examples" / "languages"
CHAIN = chain([["1/4", "3/4", 0], ["1/2", "1/4", "1/4"]], [["1/2", "1/4", "1/4"]])
SIBLINGS = position(["5/8", "3/8", 0], ["3/8", "1/4", "3/8"])

COMPILED = {
    "chain.c": ("cc", ["-O1"], ["-shared", "-fPIC"], ["-DWRONG"]),
    "recursive.cpp": ("c++", ["-O1"], ["-shared", "-fPIC"], ["-DWRONG"]),
    "chain.rs": ("rustc", ["-A", "warnings"], ["--crate-type", "cdylib"], ["--cfg", "wrong"]),
}
"""The compiler of each example, its options, those of a shared library, and those of the wrong version."""


def verdict_of(sampler: Bisected, name: str, numbers: str = "float64") -> object:
    several = name.startswith("recursive")
    subject = subject_of(sampler.verifier, numbers=numbers)
    found = judge_counts(subject, SIBLINGS if several else CHAIN, 2 if several else None)
    return confirmed(found.last, sampler).verdict


@pytest.mark.parametrize("driver", ["--command", "--library"])
@pytest.mark.parametrize("name", COMPILED)
def test_right_and_wrong_samplers_of_compiled_languages_are_told_apart(tmp_path: Path, name: str, driver: str) -> None:
    compiler, options, shared, wrong = COMPILED[name]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    for version, right in (([], True), (wrong, False)):
        built = tmp_path / f"sampler-{right}"
        made = [compiler, *options, *version, *(shared if driver == "--library" else [])]
        subprocess.run([*made, "-o", str(built), str(LANGUAGES / name)], check=True)
        given = (str(built), None) if driver == "--command" else (None, f"{built}:verify")
        found = verdict_of(program(*given, "float64"), name)
        assert (bool(found), isinstance(found, Lossy)) == (right, not right)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_right_and_wrong_samplers_in_javascript_are_told_apart() -> None:
    for version, right in (("", True), (" wrong", False)):
        found = verdict_of(program(f"node {LANGUAGES / 'chain.js'}{version}", None, "float64"), "chain")
        assert (bool(found), isinstance(found, Lossy)) == (right, not right)


@pytest.mark.parametrize("name", [*COMPILED, "chain.js"])
def test_an_adapter_has_at_most_forty_lines(name: str) -> None:
    text = (LANGUAGES / name).read_text(encoding="utf-8")
    adapter = text[text.lower().index("the adapter") :]
    assert len(adapter.splitlines()) <= 40


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_a_library_in_single_precision_is_given_floats(tmp_path: Path) -> None:
    text = (LANGUAGES / "chain.c").read_text(encoding="utf-8").replace("double", "float")
    (tmp_path / "single.c").write_text(text.replace("strtod", "strtof"), encoding="utf-8")
    built = tmp_path / "single.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(built), str(tmp_path / "single.c")], check=True)
    assert verdict_of(program(None, f"{built}:verify", "float32"), "chain", "float32")


def on_uniforms(decide: Callable[[Sequence[float]], Answer]) -> Callable[[Sequence[str]], list[Answer]]:
    return lambda lines: [decide(json.loads(line)["uniforms"]) for line in lines]


def distribution(decide: Callable[[Sequence[float]], Answer], drafted: int = 1) -> dict[Answer, Fraction]:
    sampler = Bisected(on_uniforms(decide), "sampler", 53).verifier
    row = [0.5, 0.5]
    return law(lambda coin: sampler(coin, (0,) * drafted, [row] * (drafted + 1), [row] * drafted))


def test_thresholds_are_found_to_one_step_of_the_grid() -> None:
    third = Fraction(1, 3)
    found = distribution(lambda uniforms: (0,) if uniforms[0] < 1 / 3 else (1,) if uniforms[1] < 1e-9 else (2,))
    step = Fraction(1, 2**53)
    assert abs(found[0,] - third) <= step
    assert abs(found[1,] - Fraction(1e-9) * (1 - third)) <= step
    assert sum(found.values()) == 1


def test_a_uniform_that_is_used_twice_is_followed() -> None:
    assert distribution(lambda u: (0,) if u[0] < 0.25 else (1,) if u[0] < 0.5 else (2,) if u[1] < 0.5 else (3,)) == {
        (0,): Fraction(1, 4),
        (1,): Fraction(1, 4),
        (2,): Fraction(1, 4),
        (3,): Fraction(1, 4),
    }


def test_random_points_find_an_interval_within_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interval within one cell of 32, whose ends answer alike: the checks find it, and without them it is lost."""

    def decide(uniforms: Sequence[float]) -> Answer:
        return (0,) if 33 / 64 <= uniforms[0] < 34.5 / 64 and uniforms[1] < 1 else (1,)

    # The first cell's end at 33/64 is no cell's end: 16/32 and 17/32 are 32/64 and 34/64.
    exact = Fraction(3, 128)
    assert distribution(decide)[0,] == exact
    monkeypatch.setattr(outside, "CELLS", 2)
    assert distribution(decide)[0,] == exact
    monkeypatch.setattr(outside, "CHECKS", 1)
    assert (0,) not in distribution(decide)


def test_a_right_sampler_with_an_interval_that_is_not_seen_is_not_called_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Token 1 has a narrow interval within one cell: bisection loses it, and random runs find the contradiction."""
    case = position(["1023/1024", "1/1024"], ["1/2", "1/2"])

    def hidden(uniforms: Sequence[float]) -> Answer:
        return (int(0.51 <= uniforms[1] < 0.51 + 1 / 1024),)

    sampler = Bisected(on_uniforms(hidden), "hidden", 53)
    found = judge_counts(subject_of(sampler.verifier, numbers="float64"), case, 1).last
    assert isinstance(found.verdict, Lossy)  # without the random runs
    assert "show an interval of a uniform that bisection did not see" in str(confirmed(found, sampler).verdict)
    monkeypatch.setattr(outside, "MOST_RUNS", 2_001)
    assert "2,001 random runs cannot confirm" in str(confirmed(found, sampler).verdict)


def test_a_lossless_verdict_is_left_open_where_random_runs_disagree() -> None:
    """Between its tokens the sampler emits another one, on an interval too narrow for bisection."""
    case = position(["1/2", "1/2"], ["1/2", "1/2"])

    def hidden(uniforms: Sequence[float]) -> Answer:
        return (int(uniforms[1] >= 0.5),) if not 0.26 <= uniforms[1] < 0.264 else (1,)

    sampler = Bisected(on_uniforms(hidden), "hidden", 53)
    found = judge_counts(subject_of(sampler.verifier, numbers="float64"), case, 1).last
    assert not isinstance(confirmed(found, sampler).verdict, Lossless)


def test_decisions_on_a_sum_of_uniforms_are_refused() -> None:
    with pytest.raises(ExploreError, match=r"uniform 1 change with the uniforms after it"):
        distribution(lambda uniforms: (int(uniforms[0] + uniforms[1] < 1),))


def test_more_intervals_than_are_followed_are_refused() -> None:
    with pytest.raises(ExploreError, match="more than 200 intervals"):
        distribution(lambda uniforms: (int(uniforms[0] * 1000),))


PROGRAMS = {
    "raise SystemExit(3)": "ended with exit code 3",
    "input(); print('no JSON', flush=True)": "answered 'no JSON'; an answer is a line such as",
    "input(); print('{\"tokens\": [0.5]}', flush=True)": "an answer is a line such as",
    "input(); import time; time.sleep(60)": "wrote nothing for 0.2 s: write one line",
}


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_program_that_does_not_answer_is_undecided_with_its_reason(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "PATIENCE", 0.2 if "sleep" in code else 20.0)
    ask = Program([sys.executable, "-S", "-c", code])
    found = verdict_of(Bisected(ask, "mine", 53), "chain")
    assert PROGRAMS[code] in str(found)
    assert not found
    assert not isinstance(found, Lossy)


def test_a_token_outside_the_vocabulary_is_lossy() -> None:
    found = verdict_of(Bisected(on_uniforms(lambda uniforms: (7 if uniforms[0] < 0.5 else 0,)), "mine", 53), "chain")
    assert isinstance(found, Lossy)
    assert "7" in found.reason


def test_bad_requests_say_what_to_give() -> None:
    with pytest.raises(ValueError, match="give one of them"):
        program("a", "b.so:c", "float64")
    with pytest.raises(ValueError, match="float64 or float32; got --numbers lists"):
        program("a", None, "lists")
    with pytest.raises(ValueError, match=r"--library takes FILE:NAME, such as mine.so:verify; got 'none.so'"):
        program(None, "none.so", "float64")


PYTHON = """
import json, sys
for line in sys.stdin:
    one = json.loads(line)
    (draft,), (first, last) = one["drafts"], one["uniforms"]
    t, d = one["target"][0], one["draft"][0]
    if first * d[draft] < t[draft]:
        print(json.dumps({"tokens": [draft]}), flush=True)
        continue
    left = [max(0.0, a - b) if WRONG is False else a for a, b in zip(t, d)]
    print(json.dumps({"tokens": [0 if last * sum(left) < left[0] else 1]}), flush=True)
"""


def test_the_command_judges_a_program_and_says_what_it_assumes(tmp_path: Path) -> None:
    laws = ["--target", "1/4,3/4", "--draft", "1/2,1/2", "--k", "1", "--all"]
    for wrong, code in ((False, 0), (True, 1)):
        file = tmp_path / f"{wrong}.py"
        file.write_text(PYTHON.replace("WRONG", str(wrong)), encoding="utf-8")
        ran = CliRunner().invoke(app, ["audit", "--command", f"{sys.executable} -S {file}", *laws])
        assert ran.exit_code == code, ran.output
        said = " ".join(ran.output.split())
        assert "uniforms k/2^53 bisected" in said
        assert "At least 2,000 runs on random drafts and uniforms agree with them" in said
    refused = CliRunner().invoke(app, ["audit", "mine.py:verify", "--command", "./mine"])
    assert (refused.exit_code, "name the sampler" in refused.output) == (2, True)
