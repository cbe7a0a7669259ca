"""The script that draws from openvino-genai: what it says where that is missing, and what the pages say of it."""

from __future__ import annotations

import re
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PATH = ROOT / "examples" / "openvino_draws.py"
SHARE = r"[\d,]+ of 40,000 texts"


@pytest.mark.parametrize("missing", ["openvino", "openvino_genai"])
@pytest.mark.parametrize("name", ["__main__", "openvino_draws"], ids=["run", "imported"])
def test_without_the_engine_it_says_what_is_missing_and_leaves_no_file(
    missing: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if missing != "openvino" and find_spec("openvino") is None:
        pytest.skip("openvino is missing itself, which the other case tries")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, missing, None)
        patch.setattr(sys, "argv", [str(PATH), str(tmp_path / "tokens.txt")])
        with pytest.raises(SystemExit) as left:
            _ = runpy.run_path(str(PATH), run_name=name)
    assert left.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("openvino-genai is needed, and was not found")
    assert said.err.endswith("pip install openvino-genai\n")
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(find_spec("openvino_genai") is None, reason="openvino-genai is installed apart")
def test_with_a_draft_it_draws_another_law_than_alone(tmp_path: Path) -> None:
    shares = []
    for extra in ([], ["--alone"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", [str(PATH), str(tmp_path / "tokens.txt"), "--draws", "400", *extra])
            _ = runpy.run_path(str(PATH), run_name="__main__")
        shares.append((tmp_path / "tokens.txt").read_text(encoding="utf-8").split().count("0") / 400)
    assert shares[0] > 0.6 > 0.4 > shares[1]


def test_both_pages_say_the_same_of_its_draws() -> None:
    pages = [ROOT / "docs" / "field.md", ROOT / "docs" / "how_to" / "audit_a_black_box.md"]
    said = [re.findall(SHARE, page.read_text(encoding="utf-8")) for page in pages]
    assert said[0] == said[1] == ["31,137 of 40,000 texts"]
