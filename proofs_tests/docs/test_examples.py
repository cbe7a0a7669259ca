"""Every example of the book runs as it is written, and its picture is what the script draws."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

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


JOB = (DOCS / "how_to" / "test_in_your_repository.md").read_text(encoding="utf-8")


def pasted(folder: Path, listed: str) -> tuple[int, list[str], dict[str, str]]:
    """Run the steps of the job in a fresh folder with `listed` as samplers; exit code, installs, the report's marks."""
    (workflow,) = re.findall(r"```yaml\n(.*?)```", JOB, re.DOTALL)
    (test,) = [block for block in re.findall(r"```python\n(.*?)```", JOB, re.DOTALL) if "samplers.txt" in block]
    for place in ("mypackage", "tests", "bin"):
        (folder / place).mkdir(parents=True)
    verifier = next(block for block in re.findall(r"```python\n(.*?)```", JOB, re.DOTALL) if "def verify" in block)
    lines = [line[4:] for line in verifier.splitlines() if line[:4] in (">>> ", "... ")]
    code = "\n".join(line for line in lines if not line.startswith(("from spec_math", "assert_")))
    twin = code.replace("def verify", "def redraws").replace("max(t - d, 0 * t)", "t")
    (folder / "mypackage" / "sampling.py").write_text(code, encoding="utf-8")
    (folder / "mypackage" / "wrong.py").write_text(twin, encoding="utf-8")
    (folder / "tests" / "test_losslessness.py").write_text(test, encoding="utf-8")
    (folder / "tests" / "samplers.txt").write_text(listed, encoding="utf-8")
    for name, said in (("pip", 'echo "$@" >> installed'), ("python", f'exec "{sys.executable}" "$@"')):
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{said}\n", encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    codes = [
        subprocess.run(step, shell=True, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True).returncode
        for step in re.findall(r"- run: (.*)", workflow)
    ]
    cases = ElementTree.parse(folder / "losslessness.xml").iter("testcase")
    marks = {case.attrib["name"]: next((child.tag for child in case), "passed") for case in cases}
    return max(codes), (folder / "installed").read_text(encoding="utf-8").splitlines(), marks


def test_the_job_to_paste_runs_and_reports_expected_failures(tmp_path: Path) -> None:
    (listed,) = re.findall(r"```text\n(.*?)```", JOB, re.DOTALL)
    code, installed, marks = pasted(tmp_path, listed)
    assert (code, list(marks.values())) == (0, ["passed", "skipped"])
    assert installed == ["install numpy pytest", "install --no-deps spec_math", "install -e ."]


def test_the_job_fails_where_a_sampler_is_lossy_or_a_known_one_is_mended(tmp_path: Path) -> None:
    code, _, marks = pasted(tmp_path, "mypackage.wrong:redraws\nmypackage.sampling:verify lossy: it was once\n")
    assert (code, list(marks.values())) == (1, ["failure", "failure"])
