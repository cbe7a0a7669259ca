"""Documents written by hand to deceive the checker of followed samplers: none is accepted, none ends the process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.certificates.attacks_on_followed import MINE, another_file, attacks, case, document
from spec_math.certificates import check_followed


def place(folder: Path) -> Path:
    file = folder / "followed_by_hand.py"
    _ = file.write_text(MINE, encoding="utf-8")
    return file


HERE = Path(__file__)
WORDS = [words for words, _ in attacks(HERE)]


def test_the_right_certificate_is_accepted(tmp_path: Path) -> None:
    """The control: what the attacks start from holds."""
    file = place(tmp_path)
    assert "lossless" in check_followed.check(document(file), f"{file}:verify")


@pytest.mark.parametrize("words", WORDS)
def test_an_attack_is_rejected(words: str, tmp_path: Path) -> None:
    file = place(tmp_path)
    (own,) = [own for known, own in attacks(file) if known == words]
    with pytest.raises(ValueError):
        _ = check_followed.check(own, f"{file}:{own['function']['name']}")


def test_another_file_than_the_one_judged_is_named_as_such(tmp_path: Path) -> None:
    """The hash need not agree, as the file that the reader names is run: a comment may change, and is reported."""
    file = place(tmp_path)
    said = check_followed.check(another_file(file), f"{file}:verify")
    assert "its file is not the one that was judged" in said
    assert "its file is the one that was judged" in check_followed.check(document(file), f"{file}:verify")


def test_the_sentence_names_the_distributions(tmp_path: Path) -> None:
    """A certificate on one token shows nothing of a verifier, and must read so."""
    file = place(tmp_path)
    one = case(target=[["1"]], draft=[["1"]], drafted=[[[0], 0]])
    said = check_followed.check(document(file, "always", one, nodes=[["end", "", [0]]]), f"{file}:always")
    assert "target 1" in said


def run(document: Any, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    file = folder / "certificate.json"
    _ = file.write_text(json.dumps(document), encoding="utf-8")
    command = [sys.executable, str(Path(check_followed.__file__)), str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder)


def test_nothing_leaves_with_the_exit_code_of_a_certificate_that_holds(tmp_path: Path) -> None:
    file = place(tmp_path)
    _ = (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    for name in ("none.py:verify", "ends.py:verify", f"{file.name}:nothing", file.name):
        ran = run(document(file), tmp_path, "--function", name)
        assert (ran.returncode, "Traceback" in ran.stderr) == (2, False), (name, ran.stdout, ran.stderr[-300:])
    for words, own in attacks(file):
        if words.startswith("a generator made by"):
            assert run(own, tmp_path, "--function", f"{file.name}:verify").returncode in (1, 2), words
    assert run(document(file), tmp_path, "--function", f"{file.name}:verify").returncode == 0


def test_a_certificate_alone_runs_nothing(tmp_path: Path) -> None:
    """A stranger's certificate names a file of this machine; it is run only where the reader names it."""
    file = place(tmp_path)
    mark = tmp_path / "ran"
    _ = file.write_text(f"open({str(mark)!r}, 'w').close()\n{MINE}", encoding="utf-8")
    _ = run(document(file), tmp_path)
    assert not mark.exists()
