"""The page on auditing an engine: its programs run, in order, and print what the page says."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "audit_an_engine.md"
PROGRAM = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_the_programs_of_the_page_print_what_it_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    programs = PROGRAM.findall(text)
    assert len(programs) == text.count("```python")
    names: dict[str, Any] = {}
    for program, printed in programs:
        out = StringIO()
        with redirect_stdout(out):
            exec(program, names)
        assert out.getvalue() == printed
