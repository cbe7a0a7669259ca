"""The page on servers: its commands run, in order, and the second prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

from proofs_tests.docs.book import DOCS, commands, typed
from spec_math.engines.options import ORDER
from spec_math.engines.report import QUESTIONS

PAGE = DOCS / "how_to" / "audit_a_server.md"


def test_the_commands_of_the_page_run_and_print_what_it_says(tmp_path: Path) -> None:
    listed = commands(PAGE)
    found = [typed(command, tmp_path) for command in listed]
    assert [one.exit_code for one in found] == [0, 1, 1, 1]
    said = [" ".join(one.output.split()) for one in found]
    shown = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(shown) == 1
    assert [line for line in shown[0].splitlines() if line not in said[1]] == []
    assert "tokens look as if the option were ignored" in said[2]
    # What was found stands first, also where the texts are read from a file.
    assert found[3].output.partition("\n\n")[0] == found[1].output.partition("\n\n")[0]


def test_the_page_names_every_question_and_the_number_of_options() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(ORDER) == 10
    short = {question.partition(" of ")[0] for question in QUESTIONS if question != "known bugs"} | {"known bugs"}
    assert [question for question in short if question not in text] == []
