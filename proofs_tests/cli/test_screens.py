"""Every command's help at any width, and its answer with and without --all; the examples in help stay whole."""

from __future__ import annotations

import inspect
import io
import logging
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofs_tests.cli.screens import faults, opens_and_closes
from spec_math.cli import COMMANDS, _broken, _said, app
from spec_math.cli.audit import _tell_of_long_ones


def run(*arguments: str, width: int = 80) -> Any:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(width)})


def examples(command: str) -> list[str]:
    parts = inspect.cleandoc(_said(command)).split("\n\n")
    return [part.strip() for part in parts if part.startswith("  ")]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_its_examples_can_be_copied(command: str, width: int) -> None:
    said = run(command, "--help", width=width).output
    listed = said.partition("Example")[2].replace(" \\\n    ", " ")
    assert examples(command)
    for example in examples(command):
        assert f"  {example}\n" in listed
    # One option with its value may be wider than a narrow screen; it is not cut for that.
    wide = [line for line in faults(said, width, 1000) if not (line.startswith("  ") and " --" not in line[4:])]
    assert wide == []


@pytest.mark.parametrize("command", COMMANDS)
def test_sentences_of_help_fill_the_width(command: str) -> None:
    """A line ends where the next word has no room, and not where the source breaks it."""
    lines = run(command, "--help", width=60).output.partition("Options ─")[0].splitlines()
    prose = [line.rstrip() for line in lines if line.strip() and "Usage" not in line and not line.startswith("╭")]
    for line, following in pairwise(lines):
        if line.strip() and following.strip() and line.rstrip() in prose and "│" not in line + following:
            assert len(line.rstrip()) + 1 + len(following.split()[0]) > 60 - 2


def test_an_example_is_broken_between_options_alone() -> None:
    long = "spec-math audit a.py:f --replace 'p / q=>q / p' --stub jax,triton"
    assert _broken(long, 200) == f"  {long}"
    assert _broken(long, 56).splitlines() == [
        "  spec-math audit a.py:f --replace 'p / q=>q / p' \\",
        "    --stub jax,triton",
    ]
    assert re.sub(r" \\\n +", " ", _broken(long, 30)).strip() == long


@pytest.fixture
def vocabularies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path("v.json").write_text('["a", "b", "ab"]')
    assert Path("t.json").write_text('{"context": 0, "rows": {"": ["1/4", "3/4"]}}')
    assert Path("d.json").write_text('{"context": 0, "rows": {"": ["1/2", "1/2"]}}')


BLOCKS = ("blocks", "--target", "t.json", "--draft", "d.json", "--k", "1,2,3", "--lookahead", "1,2")


@pytest.mark.usefixtures("vocabularies")
def test_all_shows_what_is_left_out() -> None:
    short, whole = run(*BLOCKS), run(*BLOCKS, "--all")
    assert faults(short.output) == []
    assert opens_and_closes(short.output)
    assert "Left out here: " in short.output
    assert "--all shows everything" in " ".join(short.output.split())
    assert faults(whole.output, most=1000) == []
    assert opens_and_closes(whole.output)
    assert "Left out" not in whole.output
    assert set(short.output.split("\n")) - set(whole.output.split("\n")) != set()
    assert len(whole.output.splitlines()) > 40, "the control: without the cut there are more lines than a screen has"
    # The option of one run is not another's.
    assert run(*BLOCKS).output == short.output


@pytest.mark.usefixtures("vocabularies")
def test_files_that_are_written_stand_before_what_was_found() -> None:
    said = run("overlap", "v.json", "v.json", "--out", "found.json").output
    assert "\nwrote found.json\n" in said
    assert opens_and_closes(said)
    many = run("overlap", "v.json", "v.json", "--out", "found").output
    assert re.search(r"^wrote \d files: found/overlap.html, ", many, re.MULTILINE)


def test_a_screen_that_is_too_small_is_seen() -> None:
    """Controls: a line too wide, a line too many, another end than the beginning."""
    assert faults("a" * 80) == []
    assert faults("a" * 81) == ["a" * 81]
    assert faults("error: " + "a" * 81) == []
    assert faults("a\n" * 41) == ["41 lines"]
    assert opens_and_closes("A b\nc.\n\nmore\nA b\nc.\n")
    assert not opens_and_closes("A b\nc.\n\nmore\nA b\nd.\n")


def test_messages_go_to_the_standard_error_of_the_moment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long walk in a second command of one process says how far it is where that command's errors stand."""
    logger = logging.getLogger("spec_math.pathwise")
    monkeypatch.setattr(logger, "handlers", [])
    with monkeypatch.context() as first, io.StringIO() as closed:
        first.setattr(sys, "stderr", closed)
        _tell_of_long_ones()
    _tell_of_long_ones()
    logger.info("7 paths")
    assert capsys.readouterr() == ("", "7 paths\n")
