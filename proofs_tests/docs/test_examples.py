"""Every example of the book runs as it is written, and its picture is what the script draws."""

from __future__ import annotations

import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, ROOT, pages

# These pages have tests of their own.
ELSEWHERE = {
    DOCS / "how_to" / "choose_a_method.md",
    DOCS / "how_to" / "choose_under_a_budget.md",
    DOCS / "first_day.md",
    DOCS / "tutorial.md",
}

with_examples = [page for page in pages() if ">>>" in page.read_text(encoding="utf-8") and page not in ELSEWHERE]


@pytest.mark.parametrize("page", with_examples, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_as_written(page: Path) -> None:
    # The closing fence of a block stands right after its expected output, so a blank line ends that output first.
    failures, examples = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert examples > 0
    assert failures == 0


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "first_verdict.md"], ids=lambda page: page.name)
def test_the_first_verdict_is_the_one_printed(page: Path, tmp_path: Path) -> None:
    """The program of the page, saved and run as a newcomer would, prints what the page says."""
    text = page.read_text(encoding="utf-8")
    (program,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "print(check" in block]
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    ran = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Lossy for 1 draft: token 0 is emitted with probability 5/16")
    assert f"```\n{ran.stdout}```" in text


README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def ran_as_pasted(text: str, folder: Path) -> list[tuple[str, str]]:
    """Save each program of a page under the name said before it, and run each command of `.venv/bin` as it is pasted.

    Returns what each command printed, with the block below it, which says what is printed.
    """
    found: list[tuple[str, str]] = []
    blocks = list(BLOCK.finditer(text))
    for block, below in zip(blocks, [*blocks[1:], None], strict=True):
        language, body = block.groups()
        named = re.findall(r"`(\w+\.py)`", text[: block.start()])
        if language == "python" and ">>>" not in body:
            (folder / named[-1]).write_text(body, encoding="utf-8")
        for line in body.splitlines() if not language else ():
            if line.startswith(".venv/bin/spec-math audit"):
                command = [sys.executable, "-c", "from spec_math.cli import main; main()", *line.split()[1:]]
                ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                assert ran.returncode in (0, 1), ran.stderr
                found.append((ran.stdout, "" if below is None else below.group(2)))
    return found


def test_every_command_of_the_readme_runs_as_pasted_and_prints_what_it_shows(tmp_path: Path) -> None:
    found = ran_as_pasted(README, tmp_path)
    assert {path.name for path in tmp_path.glob("*.py")} == {"sampling.py", "mended.py", "mine.py"}
    assert len(found) == 2
    for printed, shown in found:
        whole = " ".join(printed.split())
        assert shown.strip()
        assert [line for line in shown.splitlines() if " ".join(line.split()) not in whole] == []


def test_the_readmes_own_fix_is_lossless_as_pasted(tmp_path: Path) -> None:
    """The last line of the function, replaced by what its comment says, with the imports that the program has."""
    (program,) = [body for language, body in BLOCK.findall(README) if language == "python" and "check_lossless" in body]
    (line,) = [line for line in program.splitlines() if "# should be " in line]
    cure = line.partition("# should be ")[2]
    (tmp_path / "mine.py").write_text(program.replace(line, f"    return {cure}"), encoding="utf-8")
    ran = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Lossless"), ran.stdout


def test_every_command_that_the_readme_names_is_there() -> None:
    from spec_math.cli import COMMANDS

    named = set(re.findall(r"spec-math ([a-z]+)", README))
    assert named <= set(COMMANDS)
    assert len(named) >= 8


def test_the_picture_is_what_its_script_draws() -> None:
    script = DOCS / "pictures" / "lossless.py"
    drawn = runpy.run_path(str(script))["svg"]()
    assert script.with_suffix(".svg").read_text(encoding="utf-8") == drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_a_changed_example_is_found(tmp_path: Path) -> None:
    """The control."""
    wrong = tmp_path / "page.md"
    text = (DOCS / "lossless.md").read_text(encoding="utf-8")
    wrong.write_text(text.replace("Fraction(3, 25)", "Fraction(3, 50)"), encoding="utf-8")
    failures, _ = doctest.testfile(str(wrong), module_relative=False, encoding="utf-8", report=False)
    assert failures == 1
