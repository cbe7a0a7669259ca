"""A display name is a label alone: with every scheme and method called otherwise, all else that is told is the same."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_tests.every_method import EVERY_METHOD
from spec_math import SCHEMES, string_level
from spec_math.block_level.methods import METHODS
from spec_math.language import Table, TokenizedModel, Vocabulary
from spec_math.lossy import RULES
from spec_math.render.figure import look
from spec_math.render.playground import fragment
from spec_math.result import Result
from spec_math.studies import lossy as lossy_table
from spec_math.studies.arguments import no_progress
from spec_math.studies.blocks import comparison as of_blocks
from spec_math.studies.blocks import study as block_table
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.frontier import comparison, contenders
from spec_math.studies.frontier import study as frontier_study
from spec_math.studies.frontier import table as frontier_pictures
from spec_math.studies.frontier.study import FrontierRequest, compared
from spec_math.studies.lossy import points_of
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.stream import from_rows
from spec_math.studies.positions.study import result_of
from spec_math.studies.positions.verdicts import judge
from spec_math.studies.vocabularies import study as of_vocabularies
from spec_math.studies.vocabularies import table as vocabulary_table
from spec_math.symbolic import prove
from spec_math.symbolic.every_law import theorems

RECORDS = (*SCHEMES, *METHODS, *string_level.METHODS, *EVERY_METHOD[len(METHODS) :], *RULES)


@contextmanager
def other_names() -> Generator[dict[str, str]]:
    """Call every record otherwise, in an order of the alphabet that is not theirs; yield {other name: own name}."""
    own = [
        (record, field, getattr(record, field))
        for record in RECORDS
        for field in ("name", "short_name")
        if hasattr(record, field)
    ]
    names: dict[str, str] = {}
    for place, (record, field, name) in enumerate(own):
        other = f"⟦{997 - 7 * place}⟧"
        names[other] = name
        object.__setattr__(record, field, other)
    try:
        yield names
    finally:
        for record, field, name in own:
            object.__setattr__(record, field, name)


def told(result: Any, names: dict[str, str]) -> str:
    """All that a result holds, under its own names."""
    said = repr(result)
    for other, own in names.items():
        said = said.replace(other, own)
    return said


def positions() -> Result:
    rng = np.random.default_rng(5)
    t, d = (rng.dirichlet(np.full(6, 0.5), 12) for _ in range(2))
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (12, 6))
    verdicts = {scheme: judge(scheme) for scheme in SCHEMES[:3]}
    return result_of(compare(stream, SCHEMES, (1, 2, 4), lambda _: None), verdicts)


def blocks() -> Result:
    target, draft = Table({(): ["1/4", "3/4"]}, context=0), Table({(): ["1/2", "1/2"]}, context=0)
    models = BlockModels(target, draft, ((),), 2, "two tables")
    return block_table.result_of(
        of_blocks.compare_blocks(of_blocks.BlockRequest(models, (1, 2), (4,), 40), no_progress)
    )


def sampled_blocks() -> Result:
    target, draft = Table({(): [0.25, 0.75]}, context=0), Table({(): [0.5, 0.5]}, context=0)
    models = BlockModels(target, draft, ((),), 2, "two tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_blocks, "EXACT_TERMS", 0)
        request = of_blocks.BlockRequest(models, (1, 2), (2,), 40)
        return block_table.result_of(of_blocks.compare_blocks(request, no_progress))


def vocabularies() -> Result:
    target = TokenizedModel(Table({}, default=["1/4", "1/2", "1/4"]), Vocabulary(["a", "b", "ab"]))
    drafter = TokenizedModel(Table({}, default=["1/2", "1/2"]), Vocabulary(["a", "b"]))
    return vocabulary_table.result_of(
        of_vocabularies.of_tokenized_models(target, drafter, (), ((1, 2), Fraction(1, 8)))
    )


def frontier() -> Result:
    target, draft = Table({(): [0.25, 0.75]}, context=0), Table({(): [0.5, 0.5]}, context=0)
    models = BlockModels(target, draft, ((),), 2, "two tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contenders, "KS", (2,))
        for module in (contenders, comparison):
            patch.setattr(module, "LONGEST", 2)
        patch.setattr(contenders, "DEPTHS", (1, 2))
        request = FrontierRequest(budgets="2,4", temperatures="1,0.5", samples=16)
        return compared((("two tables", models),), request, no_progress)


def lossy() -> Result:
    laws = [([0.25, 0.75], [0.5, 0.5]), ([0.5, 0.5], [0.875, 0.125])]
    found = [point for rule in RULES for point in points_of(rule, laws, 2)]
    return lossy_table.result_of([(lossy_table.Source("two", 2, 2), found)], RULES, 2, 0.05, 4)


STUDIES = positions, blocks, sampled_blocks, vocabularies, frontier, lossy


@pytest.mark.parametrize("study", STUDIES, ids=lambda one: one.__name__)
def test_other_names_change_labels_alone(study: Any) -> None:
    ours = study()
    with other_names() as names:
        theirs = study()
        assert any(other in repr(theirs) for other in names)
    assert told(theirs, names) == repr(ours)


def test_the_same_is_proved_under_other_names() -> None:
    pytest.importorskip("z3")
    ours = theorems()
    with other_names() as names:
        theirs = theorems()
        assert [(told(one.name, names), one.scope, one.laws, one.seconds) for one in theirs] == [
            (repr(one.name), one.scope, one.laws, one.seconds) for one in ours
        ]
        quick = [at for at, one in enumerate(ours) if one.seconds <= 0.1][::4]
        found = [prove(theirs[at]) for at in quick]
    assert len(quick) >= 6
    for at, other in zip(quick, found, strict=True):
        own = prove(ours[at])
        assert (other.verdict, other.regions, other.discarded) == (own.verdict, own.regions, own.discarded)


def test_the_comparison_sees_a_look_up_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a table that leaves out a method by its display name is told."""

    def without_a_name(found: Any) -> Result:
        kept = [entry for entry in found.entries if entry.method.name != "chain priorities"]
        return honest(replace(found, entries=kept))

    honest = block_table.result_of
    monkeypatch.setattr(block_table, "result_of", without_a_name)
    ours = blocks()
    with other_names() as names:
        theirs = blocks()
    assert told(theirs, names) != repr(ours)


def test_the_comparison_sees_an_order_or_a_look_up_by_name_on_the_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    """The controls: curves in the order of names, and a way that is found by its name."""

    def by_name(one: Any, kind: Any, asked: Any) -> Any:
        return sorted(curves(one, kind, asked), key=lambda drawn: drawn.label)

    def without_a_name(found: Any, asked: Any) -> Any:
        kept = [[point for point in one.fastest if "beam" not in point.method.name] for one in found]
        return honest([replace(one, fastest=own) for one, own in zip(found, kept, strict=True)], asked)

    curves, honest = frontier_pictures._methods, frontier_study.result_of  # pyright: ignore[reportPrivateUsage]
    for module, name, wrong in (
        (frontier_pictures, "_methods", by_name),
        (frontier_study, "result_of", without_a_name),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, wrong)
            ours = frontier()
            with other_names() as names:
                theirs = frontier()
        assert told(theirs, names) != repr(ours), name


def test_the_playground_compares_no_names() -> None:
    """The optimum is found by a flag, the chosen line by its place; a comparison of names is seen."""
    by_name = re.compile(r"\.name\s*[!=]==?|[!=]==?\s*\w+\.name")
    assert not by_name.search(fragment())
    assert by_name.search("found.find((scheme) => scheme.name === state.shown)")


def test_more_lines_than_colours_look_apart() -> None:
    assert len({look(place) for place in range(40)}) == 40
