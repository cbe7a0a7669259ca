"""The frontier: sampled figures hold what enumeration says, bounds hold, shapes are chosen apart, the command works."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from spec_math.arrays import exact
from spec_math.block_level import (
    delayed,
    length,
    planned_tree,
    spectr,
    stochastic_beam,
    target_only,
    traversal,
    tree,
)
from spec_math.block_level import without_replacement as rejection
from spec_math.block_level.likeliest_tree import of_draft, of_target
from spec_math.block_level.method import CHAINS, DISTINCT, Drafts, Method
from spec_math.block_level.methods import named
from spec_math.chance import law
from spec_math.cli import app
from spec_math.language import Table
from spec_math.mean import Mean, of_independent
from spec_math.studies.blocks.models import BlockModels
from spec_math.studies.frontier import branching, ceilings, contenders, further, inclusion, regime
from spec_math.studies.frontier.advice import advice
from spec_math.studies.frontier.ceilings import of_drafts as bounds_of
from spec_math.studies.frontier.comparison import Asked, Frontier, Point, compare
from spec_math.studies.frontier.contenders import Contender, Shape, chains
from spec_math.studies.frontier.costs import Costs, parsed
from spec_math.studies.frontier.regime import Regime, at, defaults
from spec_math.studies.frontier.study import FrontierRequest, parsed_temperatures, study
from spec_math.studies.frontier.table import result_of
from spec_math.studies.frontier.ways import (
    BEAMS,
    BEAMS_TRAVERSED,
    BEST_TREE,
    BRANCHED_PLAN,
    BRANCHED_REJECTION,
    BRANCHED_TRAVERSAL,
    BRANCHING,
    CHOSEN,
    DELAYED,
    NOISE,
    PLANNED,
    SEQUENCES,
    STEMS,
    TREES,
    WAYS,
    Way,
)
from spec_math.token_level import shared_noise, without_replacement

TARGET = {"": ["1/2", "1/3", "1/6"], "0": ["1/5", "1/5", "3/5"], "1": ["1/7", "2/7", "4/7"], "2": ["1/2", "1/4", "1/4"]}
DRAFT = {"": ["1/3", "1/3", "1/3"], "0": ["2/5", "2/5", "1/5"], "1": ["3/7", "2/7", "2/7"], "2": ["1/2", "1/4", "1/4"]}


def unseen(done: int) -> None:
    """Show nothing."""


def quiet(what: str, steps: int) -> Callable[[int], None]:  # noqa: ARG001
    return unseen


def table(rows: dict[str, list[str]]) -> Table:
    return Table({tuple(map(int, key.split())): row for key, row in rows.items()}, context=1)


TABLES = table(TARGET), table(DRAFT)


@pytest.fixture(scope="module")
def toy() -> Regime:
    return at("toy", BlockModels(*TABLES, ((),), 3, "toy tables"), 1)


@pytest.fixture(scope="module", autouse=True)
def _short() -> Any:
    """Short blocks of few chains, so that all of them can be enumerated."""
    patch = pytest.MonkeyPatch()
    for module in (contenders, ceilings):
        patch.setattr(module, "KS", (2, 3))
        patch.setattr(module, "LONGEST", 2)
    patch.setattr(contenders, "DEPTHS", (1, 3))
    patch.setattr(contenders, "SLOW", {})
    patch.setattr(further, "STEM_KS", (2,))
    yield
    patch.undo()


def test_trees_are_worth_what_the_closed_form_says(toy: Regime) -> None:
    """One prefix: every sample is the exact length, for the drafter's trees and for the best ones."""
    chosen, best = contenders.of_trees(toy, (1, 3, 6), 4, 0, quiet)
    wanted = {CHOSEN: of_draft, BEST_TREE: of_target}
    checked = 0
    for one in (*chosen, *best):
        if one.method not in wanted:
            continue
        depth = next(depth for depth in (1, 3) if min(depth, one.shape.nodes) == one.shape.levels)
        tokens = target_only.expected(*TABLES, (), wanted[one.method](one.shape.nodes, depth))
        assert np.abs(one.tokens - float(tokens)).max() < 2.0**-45
        checked += 1
    assert checked == 10


def test_the_static_tree_is_no_better_than_the_best_one(toy: Regime) -> None:
    chosen, best = contenders.of_trees(toy, (2, 4), 4, 0, quiet)
    tops = {one.shape: one.tokens for one in best}
    assert all((one.tokens <= tops[one.shape] + 2.0**-45).all() for one in chosen)


def test_chains_are_worth_what_enumeration_says(toy: Regime) -> None:
    for one in contenders.of_chains(toy, 100, 0, quiet):
        assert isinstance(one.method, Method)
        tokens = float(one.method.expected(*TABLES, (), one.shape.levels, one.shape.k))
        low, high = of_independent(one.tokens, 1, one.most, 0.99).interval
        assert low <= tokens <= high, one.method.name


@cache
def walked(way: Way, shape: Shape) -> Fraction:
    """Tokens per call by enumeration of the way's own program."""
    k, size = shape.k, shape.levels
    widths = (k, *[1] * (size - 1))

    def by(program: Callable[[Any, Any], Any]) -> Any:
        return length.expected(program, ())

    programs: dict[Way, Callable[[], Any]] = {
        BEAMS: lambda: stochastic_beam.expected(*TABLES, (), size, k),
        BEAMS_TRAVERSED: lambda: by(
            lambda coin, start: stochastic_beam.generate(coin, *TABLES, start, size, k, traversal.verify)
        ),
        PLANNED: lambda: planned_tree.expected(*TABLES, (), widths),
        NOISE: lambda: spectr.expected(*TABLES, (), widths, shared_noise.verify),
        BRANCHED_REJECTION: lambda: rejection.expected(*TABLES, (), (2,) * size),
        BRANCHED_TRAVERSAL: lambda: by(lambda coin, start: traversal.generate(coin, *TABLES, start, (2,) * size)),
        BRANCHED_PLAN: lambda: planned_tree.expected(*TABLES, (), (2,) * size),
    }
    if shape.stem:
        return delayed.expected(*TABLES, (), (shape.stem, size - shape.stem), k)
    return programs[way]()


def test_further_ways_are_worth_what_enumeration_says(toy: Regime) -> None:
    found = [
        one
        for of, samples in (
            (further.of_beams, 200),
            (further.of_plans, 300),
            (further.of_noise, 600),
            (further.of_stems, 300),
            (branching.of_branching, 300),
        )
        for one in of(toy, samples, 0, quiet)
    ]
    drawn = [way for way in WAYS if way.drafts is not TREES]
    assert {one.method for one in found} == set(drawn)
    for one in found:
        if one.drafts is SEQUENCES and (one.shape.k, one.shape.levels) == (3, 2):
            continue  # seconds of enumeration
        assert isinstance(one.method, Way)
        tokens = float(walked(one.method, one.shape))
        low, high = of_independent(one.tokens, 1, one.most, 0.99).interval
        assert low <= tokens <= high, (one.method.name, one.shape)


def test_nodes_are_counted_once() -> None:
    assert (further.stemmed(2, 4, 5).nodes, branching.branched(3).nodes, chains(4, 5).nodes) == (14, 14, 20)


def drafted(kind: Drafts, k: int, size: int) -> dict[tuple[int, ...], Fraction]:
    """P(a text is drafted), by enumeration of the drafts' own program; of beams what is raced at least."""
    laws = further.GatheredLaws(*TABLES, ())
    stem = next((stem for stem, known in STEMS.items() if known is kind), 0)
    found: dict[tuple[int, ...], Fraction] = {}
    trees = law(lambda coin: tree.grow(coin, laws, (2,) * size, without_replacement.draw)) if kind is BRANCHING else {}
    held = [(inner_and_leaves(nodes), chance) for nodes, chance in trees.items()]
    for text in (text for n in range(1, size + 1) for text in product(range(3), repeat=n)):
        own = [TABLES[1](text[:place])[token] for place, token in enumerate(text)]
        mass = prod(own, start=Fraction(1))
        if kind is DISTINCT:
            roots = law(lambda coin: text[0] in without_replacement.draw(coin, TABLES[1](()), k))  # noqa: B023
            found[text] = roots.get(True, Fraction(0)) * prod(own[1:], start=Fraction(1))
        elif kind is BRANCHING:
            found[text] = sum((chance for texts, chance in held if text in texts), Fraction(0))
        elif kind is SEQUENCES:
            found[text] = Fraction(float(inclusion.raced(laws, text, (k,))[0][-1]))
        elif stem:
            above = prod(own[:stem], start=Fraction(1))
            found[text] = mass if len(text) <= stem else above * (1 - (1 - mass / above) ** k)
        else:
            found[text] = 1 - (1 - mass) ** k
    return found


def inner_and_leaves(nodes: tuple[tree.Node, ...], path: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    return {found for n in nodes for own in [(*path, n.token)] for found in {own} | inner_and_leaves(n.children, own)}


def level_bound(kind: Drafts, k: int, size: int) -> Fraction:
    """1 + Σ U(s), U the least of P(s is drafted) and t(s | v) U(v): another way than the mean over texts."""
    most: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for text, chance in drafted(kind, k, size).items():
        most[text] = min(chance, most[text[:-1]] * TABLES[0](text[:-1])[text[-1]])
    return sum(most.values(), Fraction(0))


def test_bounds_are_those_of_enumeration_and_hold(toy: Regime) -> None:
    found = bounds_of(toy, 400, 0, quiet)
    kinds = [CHAINS, DISTINCT, SEQUENCES, STEMS[1], BRANCHING]
    assert {one.drafts for one in found} == set(kinds)
    values: dict[tuple[Drafts, Shape], Fraction] = {}
    for one in found:
        low, high = of_independent(one.tokens, 1, one.most, 0.99).interval
        bound = level_bound(one.drafts, one.shape.k, one.shape.levels)
        values[one.drafts, one.shape] = bound
        assert low <= float(bound) <= high, (one.drafts, one.shape)
        if one.shape.k == 1:
            # One chain: block verification reaches it.
            assert bound == named("as a block").expected(*TABLES, (), one.shape.levels, 1)
        for name in ("greedy multi-path", "chain priorities", "traversal", "K-SEQ", "token by token"):
            method = named(name)
            if method.drafts is one.drafts:
                assert method.expected(*TABLES, (), one.shape.levels, one.shape.k) <= bound
    for way in (BEAMS, BEAMS_TRAVERSED, PLANNED, NOISE, DELAYED[1], *[w for w in WAYS if w.drafts is BRANCHING]):
        for (kind, shape), bound in values.items():
            if way.drafts is kind and (kind is not SEQUENCES or shape.k == 2):
                assert walked(way, shape) <= bound, (way.name, shape)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_inclusion_is_that_of_enumeration(k: int) -> None:
    draft = exact(["1/2", "1/5", "1/5", "1/10"])
    for token in range(4):
        drawn = float(law(lambda coin, token=token: token in without_replacement.draw(coin, draft, k)).get(True, 0))
        assert abs(inclusion.inclusion(draft.astype(float), token, (k,))[0] - drawn) < 2.0**-40
        if k == 2:
            assert abs(inclusion.of_two(draft.astype(float), token) - drawn) < 2.0**-48


@pytest.mark.parametrize("k", [2, 3])
def test_a_text_is_in_a_beam_no_more_often_than_raced(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the beam's own program; merging clocks only raises it, and one level alone is exact."""
    laws = further.GatheredLaws(*TABLES, ())
    met = law(lambda coin: stochastic_beam.grow(coin, laws, 2, k)) if k == 2 else {}
    for text in product(range(3), repeat=2):
        raced = inclusion.raced(laws, text, (k,))[0]
        held = sum((p for nodes, p in met.items() if text in inner_and_leaves(nodes)), Fraction(0))
        assert raced[1] >= float(held) - 2.0**-40
        first = law(lambda coin, text=text: text[0] in without_replacement.draw(coin, TABLES[1](()), k))
        assert abs(raced[0] - float(first.get(True, 0))) < 2.0**-40
    # The control: a race against fewer clocks than there are is above what is raced against all.
    whole = inclusion.raced(laws, (0, 1), (2,))[0]
    monkeypatch.setattr(inclusion, "LIGHT", 0.3)
    assert inclusion.raced(laws, (0, 1), (2,))[0][1] > whole[1]


def test_clocks_that_ring_as_one_only_raise_a_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """One level of 200 tokens: above the exact chance, and the more so the more of them are merged."""
    draft = np.random.default_rng(0).dirichlet(np.full(200, 0.3))
    laws = further.GatheredLaws(lambda _: draft, lambda _: draft, ())
    rows = [inclusion.inclusion(draft, token, (2, 8)) for token in (0, 50, 199)]
    for groups in (inclusion.GROUPS, 4):
        monkeypatch.setattr(inclusion, "GROUPS", groups)
        merged = [inclusion.raced(laws, (token,), (2, 8))[:, 0].tolist() for token in (0, 50, 199)]
        assert all(
            low < high for own, more in zip(rows, merged, strict=True) for low, high in zip(own, more, strict=True)
        )
        rows = merged


def test_shapes_are_chosen_on_samples_that_do_not_judge_them(toy: Regime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first third says that the short shape is better, the rest the long one: the short one is taken and judged."""

    def told(*values: tuple[float, float]) -> list[Contender]:
        own = Way("m", CHAINS)
        samples = [np.array([first] * 4 + [later] * 8) for first, later in values]
        return [Contender(own, chains(1, size), tokens, 3.0) for size, tokens in enumerate(samples, 1)]

    def nothing(*_: Any) -> Any:
        return [], []

    def no_more(*_: Any) -> list[Contender]:
        return []

    def methods(*_: Any) -> Any:
        return told((2.0, 1.25), (1.5, 3.0))

    def bounds(*_: Any) -> Any:
        return told((3.0, 3.0), (3.0, 3.0))

    for module, names in (
        (further, ("of_beams", "of_plans", "of_noise", "of_stems")),
        (branching, ("of_branching",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, no_more)
    monkeypatch.setattr(contenders, "of_chains", methods)
    monkeypatch.setattr(contenders, "of_trees", nothing)
    monkeypatch.setattr(ceilings, "of_drafts", bounds)
    found = compare(toy, Asked((2,), Costs(), 12), quiet)
    point = found.by_budget[2][0]
    assert (str(point.shape), point.tokens.value) == ("one chain of 1", 1.25)


def test_a_sample_above_its_bound_makes_no_method_faster(toy: Regime, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow method, on every second prefix, yields 3 where its drafts allow 2: on these very prefixes, and no more."""
    own = Way("m", CHAINS)
    lucky = Contender(own, chains(1, 2), np.full(6, 3.0), 3.0)
    allowed = Contender(own, chains(1, 2), np.array([2.0, 1.0] * 6), 3.0)
    none: list[Contender] = []

    def answers(found: Any) -> Callable[..., Any]:
        def answer(*_: Any) -> Any:
            return found

        return answer

    monkeypatch.setattr(contenders, "of_trees", answers((none, none)))
    monkeypatch.setattr(contenders, "of_chains", answers([lucky]))
    monkeypatch.setattr(ceilings, "of_drafts", answers([allowed]))
    monkeypatch.setattr(branching, "of_branching", answers(none))
    for name in ("of_beams", "of_plans", "of_noise", "of_stems"):
        monkeypatch.setattr(further, name, answers(none))
    (point,) = compare(toy, Asked((2,), Costs(), 12), quiet).fastest
    assert point.bound is not None
    assert (point.tokens.value, point.bound.value) == (3.0, 2.0)
    assert point.speed_up == Costs().speed_up(2.0, 2, 2, 1)


def test_costs_are_a_roofline() -> None:
    free = Costs(draft=0.0, knee=8.0, verify=0.0)
    assert [free.of_call(nodes, 1, 1) for nodes in (1, 7, 15)] == [1.0, 1.0, 2.0]
    # A batch of 8 is at the knee already: every node costs.
    assert replace(free, batch=8).of_call(1, 1, 1) == 2.0
    assert Costs(draft=0.25, knee=8.0, verify=0.0).of_call(2, 2, 2) == 1.5
    assert parsed("draft=.1, knee=64", 2) == Costs(0.1, 64.0, 0.0005, 2)


@pytest.mark.parametrize("text", ["draft", "speed=1", "draft=x", "draft=-1", "knee=0", "verify=inf"])
def test_costs_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--costs"):
        parsed(text, 1)


def test_source_code_is_sharper_than_prose_and_temperature_sharpens_it() -> None:
    """Orders, and not digits: another Python learns from other files."""
    prose, code = (at(name, models, 1).facts for name, models in defaults())
    cold = at("code", defaults()[1][1], 0.5).facts
    assert prose.target_bits > code.target_bits > cold.target_bits
    assert prose.target_top < code.target_top < cold.target_top
    assert 1 < cold.target_bits < 2 < code.target_bits < 4
    assert code.draft_bits > code.target_bits
    assert 0.4 < code.overlap < 0.9


def point(method: str, drafts: Drafts, speed: float, error: float = 0.001) -> Point:
    tokens = Mean(2.0, error, 100, 1.9, 2.1, 0.99)
    return Point(Way(method, drafts), Shape(8, 4, 8, 0 if drafts is TREES else 2), tokens, speed, Mean(4.0, 0.1, 9))


def frontier(heat: float, toy: Regime, points: list[Point]) -> Frontier:
    return Frontier(replace(toy, temperature=heat, draft_temperature=heat), {}, points, {})


def test_advice_names_the_fastest_and_where_the_answer_changes(toy: Regime) -> None:
    warm = frontier(1.0, toy, [point("A", CHAINS, 2.0), point("B", TREES, 1.5)])
    cold = frontier(0.5, toy, [point("B", TREES, 2.5), point("A", CHAINS, 2.4, error=0.5)])
    said = advice([warm, cold])
    assert "draft 2 chains of 4, verify with A" in said[0]
    assert "two standard errors apart" in said[0]
    assert "which these samples do not tell apart" in said[1]
    assert "between the temperatures 1 and 0.5" in said[2]
    assert "from 0.5 downwards take B" in said[2]
    assert "every temperature from 0.5 to 1" in advice([warm, replace(cold, fastest=warm.fastest)])[2]


def test_the_command_writes_table_and_picture(tmp_path: Path) -> None:
    for name, rows in (("t", TARGET), ("d", DRAFT)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"rows": rows, "context": 1}))
    arguments = ["frontier", "--target", f"{tmp_path}/t.json", "--draft", f"{tmp_path}/d.json", "--samples", "12"]
    answer = CliRunner().invoke(app, [*arguments, "--nodes", "2,4", "--temperature", "1,.5", "--out", f"{tmp_path}/o"])
    assert answer.exit_code == 0, answer.output
    assert {path.suffix for path in (tmp_path / "o").iterdir()} == {".html", ".json", ".csv", ".svg"}
    assert "mean top-1 mass 0.50" in answer.output
    wrong = CliRunner().invoke(app, [*arguments[:-1], "3"])
    assert (wrong.exit_code, "at least 12" in wrong.output) == (2, True)


def test_every_method_has_a_bound_of_its_own_kind_of_drafts(toy: Regime) -> None:
    """In the table of bounds each kind that a row drafts has a row, at every budget where one of its shapes fits."""
    asked = Asked((2, 6), Costs(), 12)
    found = compare(toy, asked, quiet)
    assert all(one.bound is not None and one.share is not None for one in found.fastest)
    _, bounds = result_of([found], asked).tables
    assert {row.cells[0] for row in bounds.rows} == {one.method.drafts.name for one in found.fastest}
    for place, budget in enumerate(asked.budgets, 1):
        kinds = {one.method.drafts.name for one in found.by_budget[budget]}
        assert kinds == {row.cells[0] for row in bounds.rows if row.cells[place] is not None}


def test_bad_requests_are_sentences() -> None:
    with pytest.raises(ValueError, match="come together"):
        study(FrontierRequest(target=Path("t.json")), quiet)
    for text in ("", "x", "0", "-1", "inf"):
        with pytest.raises(ValueError, match="--temperature"):
            parsed_temperatures(text)
    with pytest.raises(ValueError, match="positive and finite"):
        at("toy", BlockModels(*TABLES, ((),), 3, ""), 0)
    with pytest.raises(ValueError, match="--batch"):
        parsed("", 0)


def test_defaults_are_learnt_once() -> None:
    assert regime.source_code() is regime.source_code()
