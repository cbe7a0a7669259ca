"""docs/theorems/formal.md shows the Rocq files word for word: each theorem, and each definition that it rests on."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from proofs_tests.formal.check import NEEDED, SECONDS, THEOREM, ready, rocq, theorems
from proofs_tests.formal.page import BLOCK, PAGE, File, filled, rested_on, shown, sources

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_shows_the_files_word_for_word() -> None:
    """`python -m proofs_tests.formal.page` mends it."""
    assert filled(TEXT, sources()) == TEXT


def test_each_file_is_shown_once() -> None:
    found = sources()
    blocks = [name for name, _ in BLOCK.findall(TEXT)]
    assert sorted(blocks) == sorted(found)
    assert TEXT.count("```coq") == len(blocks)
    shown_there = dict(BLOCK.findall(TEXT))
    for name, source in found.items():
        assert theorems(shown_there[name]) == theorems(source)


@pytest.mark.parametrize(("said", "instead"), [("<= overlap t d", "<= 1"), ("(dd : is_distribution d)", "")])
def test_a_statement_that_was_changed_is_found(said: str, instead: str) -> None:
    """The control."""
    changed = TEXT.replace(said, instead)
    assert changed != TEXT
    assert filled(changed, sources()) != changed


A = """(** First. *)
From mathcomp Require Import all_ssreflect.
Definition unused := 3.
(** It is one. *)
Definition one := 1.
"""
B = """From spec Require Import a.
Section Programs.
Variable (K : nat).
Definition twice := one + one.
Lemma helps : 1 = 1. Proof. by []. Qed.
End Programs.
Section Theorems.
Hypothesis known : 2 = 2.
Local Notation pair := twice.
Theorem two : pair 0 = 2. Proof. by []. Qed.
Hypothesis later : 3 = 3.
End Theorems.
"""


def test_what_a_theorem_rests_on_is_shown_and_nothing_else() -> None:
    assert shown({"a": A, "b": B}) == {
        "a": "(** It is one. *)\nDefinition one := 1.\n",
        "b": "Section Programs.\nVariable (K : nat).\n\nDefinition twice := one + one.\nEnd Programs.\n\n"
        "Section Theorems.\nHypothesis known : 2 = 2.\nLocal Notation pair := twice.\n\n"
        "Theorem two : pair 0 = 2.\nEnd Theorems.\n",
    }


FRAME = ("From ", "Set ", "Unset ", "Import ", "Local Open ", "Declare ", "Delimit ", "Bind ", "Infix ", "Arguments ")
"""The header around the text that is shown: it says how names and signs are read."""


def as_module(name: str, file: File, places: set[int]) -> str:
    """The text that is shown as a module: its theorems are taken as proved."""
    kept = [
        text.replace("From spec Require Import", "Import") + " Admitted." * text.startswith(THEOREM)
        for place, (_, text) in enumerate(file.sentences)
        if place in places or (text.startswith(FRAME) and "simpl never" not in text)
    ]
    return "\n".join([f"Module {name}.", *kept, f"End {name}.", ""])


def read_alone(folder: Path, leave_out: str = "nothing") -> tuple[bool, str]:
    """Say whether Rocq can read the statements with what the page shows, without a sentence, and what it says."""
    files = {name: File(text) for name, text in sources().items()}
    places = {
        name: {at for at in seen if leave_out not in files[name].sentences[at][1]}
        for name, seen in rested_on(files).items()
    }
    until, ordered = monotonic() + SECONDS, list[str]()
    while left := [name for name in files if name not in ordered]:
        ordered.append(next(name for name in left if set(files[name].imports) <= set(ordered)))
    text = "\n".join(as_module(name, files[name], places[name]) for name in ordered)
    _ = (folder / "page.v").write_text(text, encoding="utf-8")
    return rocq("coqc", "page.v", build=folder, until=until)


def test_each_statement_rests_on_nothing_that_the_page_does_not_show(tmp_path: Path) -> None:
    """Rocq reads the statements with the definitions that are shown, and with no others; it loads MathComp twice."""
    if not ready():
        pytest.skip(NEEDED)
    assert read_alone(tmp_path) == (True, "")
    done, said = read_alone(tmp_path, leave_out="Definition positive_part")
    assert not done
    assert "positive_part" in said
