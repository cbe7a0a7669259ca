"""Documents written by hand to deceive a checker: none is accepted, and the checker never leaves with a traceback."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.certificates.attacks_on_paths import ALWAYS, MINE, RIGHT, attacks, claim, document
from spec_math.certificates import check_paths


def whole(own: dict[str, Any]) -> dict[str, Any]:
    """The certificate of a claim; a document stays as it is."""
    return own if "format" in own else document(own)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("attacks") / "attacked.py"
    _ = place.write_text(MINE, encoding="utf-8")
    return f"{place}:"


def test_the_right_certificate_is_accepted(mine: str) -> None:
    """The control: what the attacks start from holds, with its function and without."""
    for function in (None, "verify"):
        said = check_paths.check(document(claim()), function=None if function is None else mine + function)
        assert "lossless" in said
    lossy = claim(ALWAYS, verdict="lossy", texts=[[0]], side="more", coins=1)
    assert "lossy" in check_paths.check(document(lossy), function=mine + "always")


@pytest.mark.parametrize(("own", "name"), [pytest.param(own, name, id=words) for words, own, name in attacks()])
def test_an_attack_is_rejected(own: dict[str, Any], name: str | None, mine: str) -> None:
    with pytest.raises(ValueError):
        _ = check_paths.check(whole(own), function=None if name is None else mine + name)


def test_the_sentence_names_the_claim() -> None:
    """A verdict on fewer tokens, rounds or drafts is another verdict, and reads as another."""
    block = [["emit", [0, 0]], ["emit", [1, 1]], ["draw", ["1/4", "3/4"], [0, 1]]]
    said = [
        check_paths.check(document(one)).replace("mine.verify", "")
        for one in (claim(), claim(block, shape="blocks", drafts=None, coins=1))
    ]
    two = claim(block, shape="blocks", drafts=None, coins=1, horizon=2, target=BOTH)
    with pytest.raises(ValueError):
        _ = check_paths.check(document(two))
    assert "(drafts: 1 independent, tokens: 1, blocks: 1, fractions)" in said[0]
    assert "(drafts: its own, tokens: 1, blocks: 1, fractions)" in said[1]


BOTH = [[text, ["1/4", "3/4"]] for text in ([], [0], [1])]


def run(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(Path(check_paths.__file__)), str(place), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b"[" * 100_000),
        ("broken.json.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage"),
        ("empty.json", b""),
        ("list.json", b"[]"),
        ("nan.json", b'{"format": NaN}'),
        ("bytes.json", b"\xff\xfe\x00"),
        ("digits.json", b'{"format": ' + b"1" * 5000 + b"}"),
    ],
)
def test_a_file_that_is_no_certificate_is_told_in_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    place = tmp_path / name
    _ = place.write_bytes(content)
    ran = run(place)
    assert (ran.returncode, "Traceback" in ran.stderr) == (2, False), ran.stderr[-300:]


def test_an_entry_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """A reader sees the first, and Python's json takes the last."""
    text = json.dumps(document(claim())).replace(
        '"target": [[[], ["1/4"', '"target": [[[], ["1/2", "1/2"]]], "target": [[[], ["1/4"'
    )
    place = tmp_path / "twice.json"
    _ = place.write_text(text, encoding="utf-8")
    assert run(place).returncode in (1, 2)
    packed = tmp_path / "twice.json.gz"
    _ = packed.write_bytes(gzip.compress(text.encode()))
    assert run(packed).returncode in (1, 2)


def test_a_function_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    place = tmp_path / "right.json"
    _ = place.write_text(json.dumps(document(claim())), encoding="utf-8")
    _ = (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    _ = (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    for name in ("none.py:verify", "mine.py:nothing", "mine.py", "ends.py:verify"):
        ran = run(place, "--function", str(tmp_path / name))
        assert (ran.returncode, "Traceback" in ran.stderr) == (2, False), (name, ran.stdout, ran.stderr[-300:])
    assert run(place, "--function", str(tmp_path / "mine.py:verify")).returncode == 0


def test_the_function_is_that_of_the_file(tmp_path: Path) -> None:
    """A file may have the name of a module that is loaded already, of the standard library or of another folder."""
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    _ = (tmp_path / "first" / "twin.py").write_text(MINE, encoding="utf-8")
    _ = (tmp_path / "second" / "twin.py").write_text(MINE + "\nverify = always\n", encoding="utf-8")
    _ = (tmp_path / "second" / "gzip.py").write_text(MINE, encoding="utf-8")
    assert "lossless" in check_paths.check(document(claim()), function=f"{tmp_path}/first/twin.py:verify")
    with pytest.raises(ValueError):
        _ = check_paths.check(document(claim()), function=f"{tmp_path}/second/twin.py:verify")
    assert "lossless" in check_paths.check(document(claim()), function=f"{tmp_path}/second/gzip.py:verify")


def test_rejection_sampling_is_what_the_attacks_start_from() -> None:
    assert len(RIGHT) == 8
    assert len({words for words, _, _ in attacks()}) > 60
