"""The check of the Rocq files refuses what is not proved: axioms, gaps, long files, files that do not compile."""

from __future__ import annotations

from pathlib import Path
from shutil import which

import pytest

from proofs_tests.formal import check as of_rocq
from proofs_tests.formal.check import NEEDED, TOTAL, bare, check, faults_of_text, sentences, theorems

needs_rocq = pytest.mark.skipif(which("coqc") is None, reason=NEEDED)

PROVED = "Theorem zero_is_least (n : nat) : 0 <= n.\nProof. induction n; constructor; assumption. Qed.\n"
AXIOMS = {
    "an axiom": ("Axiom gap : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact gap. Qed.\n", "a.v says Axiom"),
    "a parameter": ("Parameter gap : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact gap. Qed.\n", "a.v says Parameter"),
    "a conjecture": ("Conjecture gap : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact gap. Qed.\n", "a.v says Conjecture"),
    "a gap": ("Theorem t : 1 = 2.\nProof. Admitted.\n", "a.v says Admitted"),
    "a gap in a lemma": (f"Lemma l : 1 = 2.\nProof. admit. Admitted.\n{PROVED}", "a.v says admit"),
    "no theorem": ("Lemma l : 1 = 1.\nProof. reflexivity. Qed.\n", "there is no theorem"),
    "a long file": (PROVED + "\n" * 399, "a.v has 401 lines, more than 400"),
}
"""Sources that are refused by their text, without Rocq."""

HIDDEN = {
    "an axiom of the standard library": (
        "From Coq Require Import FunctionalExtensionality.\n"
        "Theorem same (f g : nat -> nat) : (forall n, f n = g n) -> f = g.\n"
        "Proof. apply functional_extensionality. Qed.\n",
        "functional_extensionality_dep",
    ),
    "an axiom of the standard library in a lemma": (
        "From Coq Require Import Classical.\n"
        "Lemma decided (P : Prop) : P \\/ ~ P.\nProof. apply classic. Qed.\n"
        "Theorem again (P : Prop) : P \\/ ~ P.\nProof. apply decided. Qed.\n",
        "a.again: Axioms: Classical_Prop.classic :",
    ),
    "a variable outside of any section": (
        "Variable gap : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact gap. Qed.\n",
        "a.t: Axioms: a.gap : 1 = 2",
    ),
    "a recursion that does not end": (
        "Unset Guard Checking.\nFixpoint loop (n : nat) : False := loop n.\n"
        "Theorem t : False.\nProof. exact (loop 0). Qed.\n",
        "a.loop is assumed to be guarded",
    ),
    "a false theorem": ("Theorem t : 1 = 2.\nProof. reflexivity. Qed.\n", "a.v does not compile"),
    "a theorem that is given up": ("Theorem t : 1 = 2.\nProof. Abort.\n", "what the theorems rest on is not known"),
}
"""Sources that only Rocq can refuse."""


def checked(folder: Path, **files: str) -> tuple[list[str], list[str]]:
    for name, source in files.items():
        _ = (folder / f"{name}.v").write_text(source, encoding="utf-8")
    return check(folder, folder / "build")


@pytest.mark.parametrize("kind", AXIOMS)
def test_what_is_not_proved_is_refused_by_its_text(tmp_path: Path, kind: str) -> None:
    source, fault = AXIOMS[kind]
    answers, faults = checked(tmp_path, a=source)
    assert (answers, fault in faults) == ([], True)
    assert not (tmp_path / "build").exists()


@needs_rocq
@pytest.mark.parametrize("kind", HIDDEN)
def test_what_rests_on_an_axiom_is_refused_by_rocq(tmp_path: Path, kind: str) -> None:
    source, fault = HIDDEN[kind]
    assert faults_of_text({"a.v": source}) == []
    (found,) = checked(tmp_path, a=source)[1]
    assert fault in found


@needs_rocq
def test_what_is_proved_passes_in_the_order_of_its_imports(tmp_path: Path) -> None:
    later = "From spec Require Import b.\nTheorem again : 0 <= 7.\nProof. apply zero_is_least. Qed.\n"
    answers, faults = checked(tmp_path, a=later, b=PROVED)
    assert faults == []
    assert answers == [f"{name}: Closed under the global context" for name in ("a.again", "b.zero_is_least")]


@needs_rocq
def test_one_of_two_theorems_is_refused_by_its_name(tmp_path: Path) -> None:
    source, fault = HIDDEN["an axiom of the standard library"]
    answers, (found,) = checked(tmp_path, a=source, b=PROVED)
    assert len(answers) == 2
    assert fault in found


@needs_rocq
def test_a_check_that_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_rocq, "SECONDS", 0.0)
    slow = f"Ltac turn n := tryif constr_eq n 0 then turn n else turn 0.\n{PROVED}Goal True. turn 0.\n"
    assert "may take 0 seconds" in checked(tmp_path, a=slow)[1][0]


def test_all_files_together_are_short() -> None:
    long = {f"{name}.v": PROVED + "\n" * 248 for name in range(TOTAL // 250)}
    assert faults_of_text(long) == []
    assert faults_of_text({**long, "more.v": PROVED}) == [f"all files have {TOTAL + 2} lines, more than {TOTAL}"]


def test_words_in_comments_and_strings_are_no_axioms() -> None:
    source = '(* No Axiom, (* nested: *) no "Admitted" *) Definition s := "admit". Theorem t : 1 = 1.'
    assert len(bare(source)) == len(source)
    assert faults_of_text({"a.v": source}) == []
    assert [text for _, text in sentences(source)] == ['Definition s := "admit".', "Theorem t : 1 = 1."]
    assert theorems(source) == ["t"]


def test_the_files_of_the_project_leave_nothing_open_by_their_text() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in of_rocq.HERE.glob("*.v")}
    assert faults_of_text(sources) == []
    assert len(sources) >= 15


@pytest.mark.parametrize("installed", [True, False])
def test_where_rocq_cannot_be_had_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], installed: bool
) -> None:
    monkeypatch.setattr(of_rocq, "ready", lambda: installed)
    monkeypatch.setattr("sys.argv", ["check", "--ready"])
    assert of_rocq.main() == (0 if installed else 3)
    assert capsys.readouterr().out == ("" if installed else NEEDED + "\n")
