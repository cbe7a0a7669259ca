"""The command audit as a user meets it: verdict, page, exit codes, the failing case as a test that a repair cures."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofs_tests.samplers import samplers
from spec_math.cli import app

SAMPLERS = str(Path(samplers.__file__))

BROKEN = """
import random

def step(tokens, target, draft):
    x = tokens[0]
    if random.random() * draft[x] < target[x]:
        return x
    return random.choices(range(len(target)), CORRECTION)[0]
"""
RESIDUAL = "[max(t - d, 0) for t, d in zip(target, draft)]"


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["audit", *(str(argument) for argument in arguments)])


def test_a_function_that_was_cut_out_of_its_file_is_judged_and_that_is_said(tmp_path: Path) -> None:
    place = tmp_path / "cut_out.py"
    for correction, code in ((RESIDUAL, 0), ("target", 1)):
        place.write_text(f"import nobody_kernels\n{BROKEN.replace('CORRECTION', correction)}")
        found = run(f"{place}:step")
        assert found.exit_code == code
        said = " ".join(found.stdout.split())
        assert "Only step and what it uses was loaded, and what else the file does is not seen, because cut_out" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            [f"{SAMPLERS}:step"],
            0,
            "step is lossless for 1, 2 and 3 drafts on the built-in distributions of 5 tokens: total variation",
        ),
        ([f"{SAMPLERS}:verify", "--k", "2"], 0, "it emits exactly the target's distribution"),
        ([f"{SAMPLERS}:block", "--lookahead", "2", "--horizon", "2"], 0, "a chain of 2 drafts"),
        (["spec_math.token_level.recursive:verify"], 0, "recursive.verify is lossless"),
        ([f"{SAMPLERS}:step_redraws"], 1, "a rejection redraws from the target (M11; same output on the built-in"),
        ([f"{SAMPLERS}:step_of_one_seed"], 1, "uses random numbers twice"),
        (
            [f"{SAMPLERS}:whole_greedy", "--target", "1/4,3/4", "--draft", "1/2,1/2"],
            1,
            "in the drafter or in the verifier",
        ),
        (
            [f"{SAMPLERS}:raises"],
            1,
            "is LOSSY for 1 draft on the built-in distributions of 5 tokens: RuntimeError: no token was sampled",
        ),
        ([f"{SAMPLERS}:endless", "--budget", "20"], 3, "(budget spent): 20 paths"),
        ([f"{SAMPLERS}:normal"], 3, "(randomness not seen): explore does not follow np.random.nor"),
        ([f"{SAMPLERS}:leaks"], 3, "state leaks between runs"),
        ([f"{SAMPLERS}:nothing"], 2, "has no nothing; it has: "),
        (["no_such_module:f"], 2, "no_such_module cannot be imported from here"),
        (["step"], 2, "audit takes module:name"),
        (["gone.py:step"], 2, "there is no file gone.py"),
        ([f"{SAMPLERS}:CALLS"], 2, "is not a function; it is a list"),
        ([f"{SAMPLERS}:step", "--target", "1/2,1/2"], 2, "--target and --draft come together"),
        ([f"{SAMPLERS}:step", "--target", "1/2,1/4", "--draft", "1/2,1/2"], 2, "masses must sum to exactly 1"),
        ([f"{SAMPLERS}:step", "--target", "1,0;0,1", "--draft", "1/2,1/2"], 2, "need --lookahead"),
        ([f"{SAMPLERS}:step", "--lookahead", "-1"], 2, "--lookahead counts the drafts"),
        ([f"{SAMPLERS}:step", "--grid", "fine"], 2, "ideal, own, or a number of bits"),
        ([f"{SAMPLERS}:step", "--shape", "kernel"], 2, "a shape must be one of"),
    ],
)
def test_the_verdict_is_told_and_so_is_the_exit_code(arguments: list[str], code: int, said: str) -> None:
    result = run(*arguments)
    assert said in re.sub(r"\s*\n\s*", " ", re.sub("[│╭╰─╮╯]", "", result.output))
    assert result.exit_code == code


def test_rows_of_a_chain_are_given_once_or_for_each_place() -> None:
    once = run(f"{SAMPLERS}:block", "--lookahead", "2", "--target", "1/4,3/4", "--draft", "1/2,1/2")
    each = run(
        f"{SAMPLERS}:block", "--lookahead", "2", "--target", "1/4,3/4;1/4,3/4;1/4,3/4", "--draft", "1/2,1/2;1/2,1/2"
    )
    assert (once.exit_code, once.output) == (0, each.output)
    wrong = run(f"{SAMPLERS}:block", "--lookahead", "2", "--target", "1/4,3/4;1/4,3/4", "--draft", "1/2,1/2")
    assert "--target needs one row, or 3 separated by ;" in wrong.output


def test_a_grid_that_is_coarse_is_seen() -> None:
    """On uniforms k/2^4 a coin of chance 1/3 is 6/16."""
    laws = ["--target", "1/3,2/3", "--draft", "1,0", "--numbers", "fractions"]
    assert run(f"{SAMPLERS}:step", *laws).exit_code == 0
    coarse = run(f"{SAMPLERS}:step", *laws, "--grid", "4")
    assert coarse.exit_code == 1
    assert "emitted with 3/8 = 0.375, target 1/3 = 0.333333" in coarse.output


class _Tags(HTMLParser):
    """Every tag that is opened is closed, and nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_file_that_says_all(tmp_path: Path) -> None:
    page = tmp_path / "pages" / "verdict.html"
    assert run(f"{SAMPLERS}:step_redraws", "--out", page).exit_code == 1
    text = page.read_text()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert all(source.startswith("data:image/svg+xml") for source in tags.sources)
    for said in (
        "samplers.step_redraws is LOSSY",
        "total variation, first token</dt> <dd>0.0358383",
        "a rejection redraws from the target (M11;",
        "The fault is in the verifier, not in the drafter.",
        "first differing outcome",
        "<dt>path</dt>",
        "<dt>the smallest failing case</dt>",
        "Target (1/4, 3/4), draft (1/2, 1/2), k = 1.",
        "check_sampler(",
    ):
        assert said in re.sub(r"\s+", " ", text)
    assert run(f"{SAMPLERS}:step", "--out", page).exit_code == 0
    assert "samplers.step is lossless for" in page.read_text()
    assert "The fault is in" not in page.read_text()


def test_the_same_audit_writes_the_same_page(tmp_path: Path) -> None:
    pages = [tmp_path / f"{number}.html" for number in range(2)]
    for page in pages:
        run(f"{SAMPLERS}:step_redraws", "--target", "1/4,3/4", "--draft", "1/2,1/2", "--out", page)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def ran(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_case.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_smallest_case_is_a_test_that_fails_until_the_sampler_is_repaired(tmp_path: Path) -> None:
    # Over 5 s on a busy machine: two processes of pytest.
    module = tmp_path / "sampling.py"
    module.write_text(BROKEN.replace("CORRECTION", "target"))
    result = run(f"{module}:step", "--pytest", tmp_path / "test_case.py")
    assert result.exit_code == 1
    assert "fails until step is repaired" in result.output
    failing = ran(tmp_path)
    assert failing.returncode == 1
    assert "1 failed" in failing.stdout
    assert "AssertionError: Lossy" in failing.stdout
    module.write_text(BROKEN.replace("CORRECTION", RESIDUAL))
    passing = ran(tmp_path)
    assert passing.returncode == 0, passing.stdout


def test_a_right_sampler_leaves_no_test(tmp_path: Path) -> None:
    result = run(f"{SAMPLERS}:step", "--pytest", tmp_path / "test_case.py")
    assert "because no case failed" in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run(f"{SAMPLERS}:step", "--out", tmp_path / "file" / "page.html")
    assert result.exit_code == 2
    assert "cannot be written" in result.output


def test_a_file_without_a_function_is_told_which_it_has(tmp_path: Path) -> None:
    """The control: a function of the same file that neither draws nor compares is not offered."""
    file = tmp_path / "theirs.py"
    file.write_text(
        "import random\n\n\ndef add(a, b):\n    return a + b\n\n\n"
        "def accept(token, target, draft):\n    return random.random() < target[token] / draft[token]\n"
    )
    told = run(file)
    words = " ".join(told.stderr.replace("│", " ").split())
    assert told.exit_code == 2
    assert "accept" in words
    assert "add" not in words

    empty = tmp_path / "empty.py"
    empty.write_text("ONE = 1\n")
    told = run(empty)
    assert told.exit_code == 2
    assert "empty.py:verify" in "".join(told.stderr.replace("│", "").split())

    told = run(tmp_path / "missing.py")
    assert told.exit_code == 2
    assert "there is no file" in " ".join(told.stderr.replace("│", " ").split())
