"""The pictures: every method stands with its interval beside the bound of its own kind, every bound has its dash."""

from __future__ import annotations

import pytest

from proofs_tests.render.written_texts import faults
from proofs_tests.studies.frontier.toy_models import TABLES, quiet
from spec_math.render.figure import Look, looks_of
from spec_math.result import Panel, Tree
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.frontier.comparison import Asked, Costs, Frontier, compare
from spec_math.studies.frontier.contenders import at
from spec_math.studies.frontier.table import kinds_of, pictures

ASKED = Asked((2, 6), Costs(), 16)


@pytest.fixture(scope="module")
def found() -> list[Frontier]:
    return [compare(at("toy", BlockModels(*TABLES, ((),), 3, "toy tables"), heat), ASKED, quiet) for heat in (1, 0.5)]


def panels_of(found: list[Frontier], place: int) -> tuple[Panel, ...]:
    panels = pictures(found, ASKED)[place].panels
    assert not isinstance(panels, Tree)
    return panels


def test_every_kind_of_drafts_has_a_row_with_its_own_bound_and_all_its_methods(found: list[Frontier]) -> None:
    panels = panels_of(found, 1)
    assert pictures(found, ASKED)[1].across == len(found)
    kinds = kinds_of(found[0])
    assert len(kinds) == 7
    assert len(panels) == len(kinds) * len(found)
    for place, panel in enumerate(panels):
        one, kind = found[place % len(found)], kinds[place // len(found)]
        drawn = {curve.label: curve for curve in panel.curves}
        methods = {point.method for points in one.by_budget.values() for point in points}
        own = {method.name: method for method in methods if method.drafts is kind}
        assert set(drawn) == {*own, f"upper bound: {kind.name}"}
        for name, method in own.items():
            held = {n: one.point(method, n) for n in ASKED.budgets}
            means = [point.tokens for point in held.values() if point is not None]
            assert drawn[name].y == tuple(mean.value for mean in means)
            assert list(zip(drawn[name].low, drawn[name].high, strict=True)) == [mean.interval for mean in means]
        bound = drawn[f"upper bound: {kind.name}"]
        assert bound.style == "bound"
        ceilings = [one.ceilings[n][kind].value for n in ASKED.budgets if kind in one.ceilings[n]]
        assert list(bound.y) == ceilings


def test_all_bounds_stand_in_one_panel_a_temperature_each_in_a_dash_of_its_own(found: list[Frontier]) -> None:
    panels = panels_of(found, 0)
    assert len(panels) == len(found)
    known: dict[tuple[str, int], Look] = {}
    for one, panel in zip(found, panels, strict=True):
        assert [curve.label for curve in panel.curves] == [f"upper bound: {kind.name}" for kind in kinds_of(one)]
        looks = looks_of(panel, known)
        assert {look.colour for look in looks} == {"black"}
        assert len({str(look.dash) for look in looks}) == len(looks) == 7
    # One dash a kind in the other picture too, though its panels have a bound each.
    others: dict[tuple[str, int], Look] = {}
    for panel in panels_of(found, 1):
        _ = looks_of(panel, others)
    bounds = {label: look.dash for (label, place), look in others.items() if place < 0}
    assert len(set(map(str, bounds.values()))) == len(bounds) == 7


def test_drawn_drafts_share_a_scale_and_nothing_that_is_drawn_leaves_it(found: list[Frontier]) -> None:
    panels = panels_of(found, 1)
    kinds = kinds_of(found[0])
    for heat in range(len(found)):
        column = [panel.limits for panel in panels[heat :: len(found)]]
        trees = [kind.name for kind in kinds].index("chosen trees")
        assert len(set(column[:trees] + column[trees + 1 :])) == 1
    for panel in panels:
        assert panel.limits is not None
        assert max(y for curve in panel.curves for y in curve.y) < panel.limits[1]


@pytest.mark.parametrize("heats", [1, 2])
def test_nothing_that_is_written_overlaps_or_is_cut(found: list[Frontier], heats: int) -> None:
    for picture in pictures(found[:heats], ASKED):
        assert picture.across == heats
        assert faults(picture) == []
