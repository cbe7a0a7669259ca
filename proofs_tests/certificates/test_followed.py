"""Certificates of verdicts on samplers as they are: the checker accepts them by itself, and rejects other programs."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.certificates import followed_forgeries as known
from proofs_tests.certificates.followed import plain, with_numpy
from spec_math import certificates
from spec_math.audit import check_sampler
from spec_math.certificates import check_followed
from spec_math.samplers.case import position
from spec_math.samplers.judgement import judge
from spec_math.samplers.subject import subject_of

CHECKER = check_followed.__file__
HERE = Path(plain.__file__).parent
LAWS = ["1/4", "3/4"], ["1/2", "1/2"]


def by_itself(file: Path, *options: str) -> tuple[int, str]:
    """Run a copy of the checker with the standard library alone."""
    command = [sys.executable, "-I", "-S", CHECKER, str(file), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", known.JUDGED)
def test_the_certificate_of_each_sampler_holds(name: str) -> None:
    document = known.true(name)
    fn, case = known.JUDGED[name]
    assert document["verdict"] == ("lossless" if judge(subject_of(fn), case).verdict else "lossy")
    assert known.accepted(document)
    assert known.confirmed(document)
    assert certificates.check(document).endswith(f"Assumed: {check_followed.ASSUMED}")


@pytest.mark.parametrize("name", ["recursive", "redraws", "chain", "wheel", "sometimes", "with a generator"])
def test_the_checker_needs_the_standard_library_alone(name: str, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    _ = file.write_text(json.dumps(known.true(name)))
    code, said = by_itself(file)
    assert code == 0, said
    assert known.true(name)["verdict"] in said


def test_a_verdict_saves_its_certificate(tmp_path: Path) -> None:
    verdict = check_sampler(plain.recursive, *LAWS)
    file = tmp_path / "certificate.json.gz"
    verdict.certificate().save(file)
    document = json.loads(gzip.decompress(file.read_bytes()))
    assert [case["k"] for case in document["cases"]] == [1, 2, 3]
    assert by_itself(file)[0] == 0
    assert (
        verdict.certificate()
        .check(f"{HERE}/plain.py:recursive")
        .startswith(f"{HERE}/plain.py:recursive(tokens, target, draft) is lossless")
    )


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("recursive", "plain.py:hopeful"),
        ("recursive", "plain.py:redraws"),
        ("redraws", "plain.py:recursive"),
        ("wheel", "with_numpy.py:race"),
        ("old generator", "with_numpy.py:turned"),
        ("race", "with_numpy.py:race_of_draft"),
        ("race", "with_numpy.py:gumbel"),
        ("whole number", "with_numpy.py:chosen"),
        ("recursive", "plain.py:guarded"),
    ],
)
def test_another_program_is_rejected(name: str, other: str) -> None:
    with pytest.raises(ValueError, match=r"it returns|cannot be read"):
        _ = check_followed.check(known.true(name), function=f"{HERE}/{other}")


CHANGES = [
    ("random.random() * draft[x] < target[x]", "random.random() * draft[x] < target[x] - 1e-8"),
    ("random.random() * draft[x] < target[x]", "random.random() * target[x] < draft[x]"),
    ("return x\n", "return 1 - x\n"),
    ("random.choices(range(len(law)), law)[0]", "random.choices(range(len(law)))[0]"),
    ("    return draw(target)\n", "    random.random()\n    return draw(target)\n"),
    ("    return draw(target)\n", "    return 0\n"),
    ("import random\n", "import random\nAT_IMPORT = random.random()\n"),
    ("random.choices(range(len(law)), law)[0]", "random.getrandbits(1)"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_changed_program_is_rejected(old: str, new: str, tmp_path: Path) -> None:
    source = (HERE / "plain.py").read_text()
    assert old in source
    file = tmp_path / "certificate.json"
    _ = file.write_text(json.dumps(known.true("recursive")))
    for change, code in ((source, 0), (source.replace(old, new), 1)):
        _ = (tmp_path / "changed.py").write_text(change)
        code = 2 if "AT_IMPORT" in change else code  # it cannot even be loaded
        assert by_itself(file, "--function", f"{tmp_path / 'changed.py'}:recursive")[0] == code


def test_the_sentence_says_whether_the_file_is_the_one_that_was_judged(tmp_path: Path) -> None:
    _ = (tmp_path / "plain.py").write_text((HERE / "plain.py").read_text() + "\n")
    for file, said in ((HERE / "plain.py", "is the one"), (tmp_path / "plain.py", "is not the one")):
        assert f"its file {said} that was judged" in check_followed.check(known.true("recursive"), f"{file}:recursive")
    assert "It was not run" in check_followed.check(known.true("recursive"))


def test_a_file_that_is_none_has_its_own_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    for text, code in (("{", 2), ("{}", 2), ('{"format": "other"}', 2), ("[]", 2)):
        _ = file.write_text(text)
        assert by_itself(file)[0] == code
    _ = file.write_text(json.dumps(known.changed("recursive", known.put("lossy", "verdict"))))
    assert by_itself(file)[0] == 1
    assert by_itself(tmp_path / "nowhere.json")[0] == 2


def test_a_function_in_a_package_is_imported_with_its_neighbours(tmp_path: Path) -> None:
    package = tmp_path / "package" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        _ = (folder / "__init__.py").write_text("")
    _ = (package.parent / "drawing.py").write_text("from random import random\n")
    body = "from ..drawing import random\n\n\ndef wheel(target, draft):\n    return int(random() >= target[0])\n"
    _ = (package / "sampler.py").write_text(body)
    document = known.toy(Fraction(1, 4), {"numbers": "fractions"})
    place = f"{package / 'sampler.py'}:wheel"
    assert f"{place} was run in each box" in check_followed.check(document, function=place)


def test_a_lossy_certificate_holds_no_more_than_needed() -> None:
    """Without its lightest box it refutes nothing."""
    document = known.true("redraws")
    for place, one in enumerate(document["nodes"]):
        for part, child in enumerate(one[-1] if one[0] == "cut" else []):
            if child is not None:
                less = known.changed(
                    "redraws", lambda d, at=(place, part): d["nodes"][at[0]][-1].__setitem__(at[1], None)
                )
                assert not known.accepted(less)


REFUSED: dict[str, tuple[Any, str]] = {
    "sample": (plain.guarded, "random.sample of 2 out of 2"),
    "Gumbel noise": (with_numpy.gumbel, "Generator.gumbel and races it"),
    "a lambda": (lambda tokens, target, draft: tokens[0], "define it at the top of a file"),  # noqa: ARG005
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_stated_is_refused(name: str) -> None:
    fn, said = REFUSED[name]
    verdict = check_sampler(fn, *LAWS)
    with pytest.raises(ValueError, match=said):
        _ = verdict.certificate().document()


def test_a_grid_is_refused() -> None:
    found = judge(subject_of(plain.redraws, grid=8), position(*LAWS))
    with pytest.raises(ValueError, match="leave the grid out"):
        _ = found.verdict.certificate().document()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", ["rejection", "redraws"])
def test_samplers_in_torch_have_certificates(name: str) -> None:
    _ = pytest.importorskip("torch")
    from proofs_tests.certificates.followed import with_torch
    from torch_bridge.subject import subject_of as subject_in_torch

    found = judge(subject_in_torch(getattr(with_torch, name)), position(*LAWS))
    document = found.verdict.certificate().document()  # pyright: ignore[reportAttributeAccessIssue]
    assert document["verdict"] == {"rejection": "lossless", "redraws": "lossy"}[name]
    assert known.accepted(document)


def test_a_race_in_torch_is_refused() -> None:
    _ = pytest.importorskip("torch")
    from proofs_tests.certificates.followed import with_torch
    from torch_bridge import check_sampler as check_in_torch

    with pytest.raises(ValueError, match=r"which a certificate does not state|do not confirm"):
        _ = check_in_torch(with_torch.noisy, *LAWS).certificate().document()
