"""Every example runs, draws its picture and ends in a check that holds; a check that cannot fail is refused."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent.parent
# A script that is given a file has a test of its own: test_openvino_draws.py.
ELSEWHERE = {"openvino_draws"}
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem not in ELSEWHERE)
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))
NEEDS = {"serve_with_chain_priorities": "torch", "the_law_of_float16": "torch", "transformers_tli": "transformers"}
# Each breaks what the example is about, so that its own check has to say so.
WRONG = {
    "one_token_by_hand": ("coin.draw(residual(target, draft))", "coin.draw(target)"),
    "a_bug_that_sampling_cannot_see": (" + SAFE", ""),
    "two_drafts_and_the_linear_program": (
        "optimal.acceptance(target, draft, 2)",
        "optimal.acceptance(target, draft, 3)",
    ),
    "the_optimum_as_k_grows": ("optimal.acceptance(target, draft, k)", "optimal.acceptance(target, draft, 1)"),
    "block_against_token": (
        "block.generate(coin, target, draft, prefix, 3)",
        "block.generate(coin, draft, draft, prefix, 3)",
    ),
    "two_tokenisers_and_psi": (
        "psi.psi(target_vocabulary, draft_vocabulary, draft)",
        "psi.psi(target_vocabulary, draft_vocabulary, draft, 1)",
    ),
    "the_law_of_float16": ('"float32": torch.float32', '"float32": torch.float16'),
}


def name_of(path: Path) -> str:
    return path.stem


class Ran(NamedTuple):
    code: object
    said: str


def run(path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Run a script as `python PATH FOLDER` would, in this process, where the library is already loaded."""
    code: object = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(path), str(folder)])
        try:
            assert "__name__" in runpy.run_path(str(path), run_name="__main__")
        except SystemExit as left:
            code = left.code
    return Ran(code, capsys.readouterr().out)


def skip_without_its_library(path: Path) -> None:
    if (library := NEEDS.get(path.stem)) and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_example_ends_in_a_check_that_holds(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skip_without_its_library(path)
    ran = run(path, tmp_path, capsys)
    assert ran.code in (0, None), ran
    assert ran.said.splitlines()[-1].startswith("checked: ")


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem in WRONG], ids=name_of)
def test_example_draws_its_picture(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says so when what it shows is broken."""
    skip_without_its_library(path)
    right, wrong = WRONG[path.stem]
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1
    broken = tmp_path / path.name
    assert broken.write_text(text.replace(right, wrong), encoding="utf-8") > 0
    ran = run(broken, tmp_path, capsys)
    assert isinstance(ran.code, str), ran  # a sentence, which Python prints before it leaves with 1
    assert "checked: " not in ran.said
    assert (tmp_path / f"{path.stem}.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_every_example_with_a_picture_has_a_control() -> None:
    pictured = {path.stem for path in EXAMPLES if ".svg" in path.read_text(encoding="utf-8")}
    assert pictured == set(WRONG)


# Figures of the papers: what draws each, and what breaks it.
GALLERY_WRONG = {
    "spectr_figures": ("target = proportional_to([1] * kept + [0] * (size - kept))", "target = draft"),
    "specvocab_figure_4": ("if any(point.acceptance > point.covered", "if any(point.covered > point.acceptance"),
}


@pytest.mark.parametrize("path", GALLERY, ids=name_of)
def test_a_script_of_the_gallery_draws_its_figures_and_ends_in_a_check(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run(path, tmp_path, capsys)
    assert ran.code in (0, None), ran
    assert ran.said.splitlines()[-1].startswith("checked: ")
    drawn = {found.name for found in tmp_path.glob("*.svg")}
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert drawn == {name for name in drawn if f"reference/gallery/{name}" in page} != set()
    assert f"examples/gallery/{path.name}" in page
    right, wrong = GALLERY_WRONG[path.stem]
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1
    broken = tmp_path / path.name
    assert broken.write_text(text.replace(right, wrong), encoding="utf-8") > 0
    assert isinstance(run(broken, tmp_path, capsys).code, str)
