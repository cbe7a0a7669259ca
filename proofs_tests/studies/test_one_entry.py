"""A verifier is added by one file and one entry: table, picture, proofs and audit follow from its record."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from spec_math import SCHEMES, Scheme
from spec_math.audit import subject_of
from spec_math.block_level.methods import METHODS, named
from spec_math.language import Table
from spec_math.render.figure import look
from spec_math.studies.arguments import no_progress
from spec_math.studies.audits.study import AuditRequest
from spec_math.studies.audits.study import study as audit
from spec_math.studies.blocks.comparison import BlockModels, BlockRequest, compare_blocks
from spec_math.studies.blocks.study import result_of
from spec_math.studies.positions.study import CompareRequest, study
from spec_math.symbolic import prove
from spec_math.symbolic.every_law import theorems

SCHEME = """
from spec_math import Emission, Scheme, overlap, residual
from spec_math.scheme import draw_independent, token_of
from spec_math.token_level import optimal as optima


def draw(coin, draft, k):
    return draw_independent(coin, draft, 1)


def emit(coin, tokens, target, draft):
    (x,) = tokens
    if coin.flip(min(1, target[x] / draft[x])):
        return Emission(x, accepted=True)
    return Emission(coin.draw(residual(target, draft)), accepted=False)


def acceptance(target, draft, k):
    return overlap(target, draft)


verify = token_of(emit)
RECORD = Scheme("toy", draw, verify, acceptance, emit=emit, drafts=1, optimum=optima.ONE)
"""

METHOD = """
from spec_math.block_level import chain
from spec_math.block_level.methods import CHAINS, Method
from spec_math.block_level.methods import TOKEN_BY_TOKEN


def draft(coin, laws, lookahead, k):
    return tuple(chain.draw(coin, laws, lookahead) for _ in range(k))


def generate(coin, target, drafter, prefix, lookahead, k):
    return chain.generate(coin, target, drafter, prefix, lookahead)


def expected(target, drafter, prefix, lookahead, k):
    return chain.expected(target, drafter, prefix, lookahead)


def terms(size, lookahead, k):
    return size**lookahead


RECORD = Method("the first of them", CHAINS, TOKEN_BY_TOKEN, draft, generate, expected, terms)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of two files, each with one record."""
    folder = tmp_path / "toys_of_one_entry"
    folder.mkdir()
    for name, text in (("__init__", ""), ("scheme", SCHEME), ("method", METHOD)):
        assert (folder / f"{name}.py").write_text(text) >= 0
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def enter(monkeypatch: pytest.MonkeyPatch, entries: tuple[Any, ...], *records: Any) -> None:
    """Append records to a tuple of records, as an entry in its file would."""
    for module in [held for name, held in sys.modules.items() if name.startswith("spec_math.")]:
        for name, value in list(vars(module).items()):
            if value is entries:
                monkeypatch.setattr(module, name, (*entries, *records))


def strangers(schemes: tuple[Scheme, ...]) -> list[str]:
    """The schemes whose record does not stand beside their program."""
    return [one.name for one in schemes if one not in vars(sys.modules[one.verify.__module__]).values()]


def test_each_record_stands_in_the_file_of_its_program() -> None:
    assert strangers(SCHEMES) == []
    # The control: a record made elsewhere of the same program.
    assert strangers((*SCHEMES, replace(SCHEMES[0], name="made here"))) == ["made here"]


def test_a_scheme_has_its_row_its_line_its_proofs_and_its_audit(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    toy = import_module(f"{package}.scheme").RECORD
    enter(monkeypatch, SCHEMES, toy)
    found = study(CompareRequest(ks="1,2", positions=4), no_progress)
    (row,) = [row for row in found.table("comparison").records() if row["scheme"] == "toy"]
    own = next(row for row in found.table("comparison").records() if row["scheme"] == SCHEMES[0].name)
    assert row["verdict"] == "lossless"
    assert abs(row["acceptance"].value - own["acceptance"].value) < 2.0**-20  # type: ignore[union-attr]
    lines = [curve.label for curve in found.pictures[0].panels[0].curves if curve.style == "line"]
    assert lines.index("toy") == len(SCHEMES)  # beyond ten schemes
    assert len({look(place) for place in range(len(lines))}) == len(lines)
    listed = [theorem for theorem in theorems() if theorem.name.startswith("toy: ")]
    assert [theorem.name for theorem in listed] == ["toy: lossless", "toy: as its formula says"]
    assert all(prove(theorem) for theorem in listed)
    assert audit(AuditRequest(f"{package}.scheme:verify"), subject_of, no_progress).exit_code == 0


def test_a_method_has_its_row_its_line_its_bound_and_its_proof(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    toy = import_module(f"{package}.method").RECORD
    enter(monkeypatch, METHODS, toy)
    assert named("the first of") is toy
    target, draft = Table({(): ["1/4", "3/4"]}, context=0), Table({(): ["1/2", "1/2"]}, context=0)
    models = BlockModels(target, draft, ((),), 2, "two tables")
    comparison = compare_blocks(BlockRequest(models, (1, 2), (2,), 40), no_progress)
    entry, plain = comparison.entry(toy, 2, 2), comparison.entry(toy, 1, 2)
    assert entry is not None
    assert plain is not None
    assert entry.exact == plain.exact == METHODS[0].expected(target, draft, (), 2, 1)
    found = result_of(comparison)  # which holds it within the bound of its own kind of drafts
    assert "the first of them" in found.table("blocks").cells("method")
    assert "the first of them" in [curve.label for curve in found.pictures[0].panels[0].curves]
    (theorem,) = [theorem for theorem in theorems() if theorem.name.startswith("the first of them")]
    assert prove(theorem)


def test_a_lossy_scheme_is_told_everywhere(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the same record with a residual from the target."""
    pytest.importorskip("z3")
    file = Path(import_module(package).__path__[0]) / "lossy.py"
    assert file.write_text(SCHEME.replace("coin.draw(residual(target, draft))", "coin.draw(target)")) > 0
    toy = import_module(f"{package}.lossy").RECORD
    enter(monkeypatch, SCHEMES, toy)
    found = study(CompareRequest(ks="1", positions=4), no_progress)
    assert found.exit_code == 1
    (row,) = [row for row in found.table("comparison").records() if row["scheme"] == "toy"]
    assert row["verdict"] == "LOSSY"
    assert [prove(one).verdict for one in theorems() if one.name == "toy: lossless"] == ["refuted"]
    assert audit(AuditRequest(f"{package}.lossy:verify"), subject_of, no_progress).exit_code == 1
