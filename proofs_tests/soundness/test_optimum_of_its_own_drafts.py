"""No scheme's acceptance exceeds the optimum of its own kind of drafts: all schemes, no exception, exactly.

With t = (2/5, 3/5), d = (3/4, 1/4) and two drafts, greedy drafts and SpecHub always emit a draft, and the gap printed
beside them was taken against the 67/80 of i.i.d. drafts.
"""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from typer.testing import CliRunner

from proofs_tests.oracles import forked, optimum
from proofs_tests.strategies import counts, pairs
from spec_math import SCHEMES, exact
from spec_math.cli import app
from spec_math.invariants import ABOVE_OPTIMUM, BrokenInvariantError
from spec_math.render.data import as_csv
from spec_math.scheme import Optimum, Scheme
from spec_math.studies.positions.comparison import compare, kinds
from spec_math.studies.positions.stream import from_rows
from spec_math.studies.positions.study import CompareRequest, result_of, study
from spec_math.studies.positions.verdicts import judge, verifier_scheme
from spec_math.token_level import single
from spec_math.token_level.bounds import bracket
from spec_math.token_level.streamed import rounding
from spec_math.verdict import Optimal

INSTANCE = exact(["2/5", "3/5"]), exact(["3/4", "1/4"])
THREE = exact(["1/10", "2/10", "7/10"]), exact(["6/10", "3/10", "1/10"])
TIED = exact(["1/2", "1/2", 0]), exact(["1/3", "1/3", "1/3"])
CERTAIN = exact(["1/4", "3/4"]), exact([1, 0])

each_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)


def ignore(_done: int) -> None:
    """A progress bar that nobody watches."""


def own_optimum(scheme: Scheme, target: Any, draft: Any, k: int) -> Fraction:
    """By brute force over all subsets, of the law of what the scheme's own program drafts."""
    return optimum(target, forked(lambda coin: tuple(scheme.draw(coin, draft, k))))


@each_scheme
@given(pair=pairs(), k=counts())
@example(pair=INSTANCE, k=2)
@example(pair=THREE, k=2)
@example(pair=TIED, k=3)
@example(pair=CERTAIN, k=2)
@settings(max_examples=100)
def test_the_optimum_on_the_record_is_that_of_the_schemes_own_drafts(scheme: Scheme, pair: Any, k: int) -> None:
    best = scheme.optimum(*pair, k)
    assert best == own_optimum(scheme, *pair, k)
    assert type(best) is Fraction
    assert scheme.optimum.all(*pair, (k,)) == (best,)
    assert scheme.acceptance(*pair, k) <= best


@each_scheme
@pytest.mark.parametrize("pair", [INSTANCE, THREE, TIED, CERTAIN])
def test_the_bracket_of_a_scheme_ends_at_its_optimum(scheme: Scheme, pair: Any) -> None:
    found = bracket(scheme, *pair, 2)
    assert (found.acceptance if isinstance(found, Optimal) else found.upper) == scheme.optimum(*pair, 2)


def test_the_optimum_of_other_drafts_is_no_bound() -> None:
    """The control: i.i.d. drafts' optimum beside greedy drafts, SpecHub and drafts without replacement."""
    best = optimum(INSTANCE[0], {(a, b): INSTANCE[1][a] * INSTANCE[1][b] for a in (0, 1) for b in (0, 1)})
    assert best == Fraction(67, 80)
    above = [scheme for scheme in SCHEMES if scheme.acceptance(*INSTANCE, 2) > best]
    assert [scheme.acceptance(*INSTANCE, 2) for scheme in above] == [1] * 4


def streams(seed: int, count: int, size: int) -> Any:
    rng = np.random.default_rng(seed)
    t, d = (rng.dirichlet(np.full(size, 0.3), size=count) for _ in range(2))
    return from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (count, size))


@pytest.mark.parametrize(("size", "seed"), [(2, 0), (3, 1), (8, 2), (60, 3), (700, 4)])
def test_every_gap_is_at_least_0_at_every_position(size: int, seed: int) -> None:
    """A stream of one position at a time, so that no mean hides a negative gap; sampled ones are held on average."""
    ks = (1, 2, 4, 8)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        t, d = (rng.dirichlet(np.full(size, 0.3), size=1) for _ in range(2))
        if rng.random() < 0.3:
            d[0, rng.integers(size)] = 0.0
            d /= d.sum()
        result = compare(from_rows(lambda a, b, t=t: t[a:b], lambda a, b, d=d: d[a:b], (1, size)), SCHEMES, ks, ignore)
        result.watch.hold()
        for line in result.lines:
            summed = line.scheme.estimate is None or size**8 <= 10_000
            for k in line.acceptance:
                gap = line.gap(k).value
                assert gap is not None
                if summed:
                    assert gap >= 0, (line.name, k)


def test_the_table_and_its_file_hold_no_negative_gap(tmp_path: Path) -> None:
    for side, name in ((0, "target"), (1, "draft")):
        np.save(tmp_path / f"{name}.npy", np.array([[float(mass) for mass in INSTANCE[side]]]))
    files = ["--target", str(tmp_path / "target.npy"), "--draft", str(tmp_path / "draft.npy")]
    said = CliRunner().invoke(app, ["compare", *files, "--k", "1,2", "--out", str(tmp_path)])
    assert said.exit_code == 0, said.output
    with (tmp_path / "comparison.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    gaps = {(row["scheme"], int(row["k"])): row["gap to optimum"] for row in rows}
    for scheme in SCHEMES:
        for k in (1, 2) if scheme.drafts is None else (scheme.drafts,):
            best = scheme.optimum(*INSTANCE, k) - scheme.acceptance(*INSTANCE, k)
            assert abs(float(gaps[scheme.name, k]) - float(best)) <= 2 * rounding(2, k), (scheme.name, k)


def test_one_draft_has_its_gap_whatever_the_ks_are() -> None:
    result = compare(streams(9, 20, 5), SCHEMES, (4, 8), ignore)
    for line in result.lines:
        assert all(line.gap(k) is not None for k in line.acceptance), line.name


def test_the_names_of_schemes_decide_nothing() -> None:
    """Every scheme under another name: the same numbers."""
    other = [
        Scheme(**(vars(scheme) | {"name": f"without replacement {number}", "short_name": ""}))
        for number, scheme in enumerate(SCHEMES)
    ]
    first, second = (compare(streams(5, 20, 6), schemes, (1, 2, 4), ignore) for schemes in (SCHEMES, other))
    for line, same in zip(first.lines, second.lines, strict=True):
        assert [t.mean for t in line.acceptance.values()] == [t.mean for t in same.acceptance.values()]
        assert [line.gap(k) for k in line.gaps] == [same.gap(k) for k in same.gaps]
    assert [line.name for line in first.optima] == [line.name for line in second.optima]


def test_another_kind_of_drafts_gets_a_line_of_its_own() -> None:
    """A scheme that drafts the same token twice: its optimum is that of one draft, whatever k is."""

    def draw(coin: Any, draft: Any, k: int) -> Any:
        return (coin.draw(draft),) * k

    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        return single.verify(coin, tokens[0], target, draft)

    def half(target: Any, draft: Any, _k: int) -> Any:
        return single.acceptance(target, draft)

    def best(target: Any, draft: Any, _k: int) -> Any:
        return single.acceptance(target, draft)

    copied = Scheme("copied", draw, verify, half, optimum=Optimum("one draft copied", best))
    assert [kind.drafts for kind in kinds([copied])] == ["i.i.d. drafts", "without replacement", "one draft copied"]
    result = compare(streams(6, 10, 4), [copied], (1, 2), ignore)
    result.watch.hold()
    assert [line.name for line in result.optima][2] == "optimum, one draft copied"
    assert abs(result.lines[0].gap(2).value) <= 2.0**-50


def test_a_lossy_verifier_has_no_gap_and_is_no_contradiction() -> None:
    """One that always emits its draft exceeds every optimum, because it is lossy: its line says so and has no gap."""
    copycat = verifier_scheme("copycat", lambda *given: given[1][0])
    result = compare(streams(7, 10, 3), [copycat], (1, 2), ignore)
    with pytest.raises(BrokenInvariantError, match=ABOVE_OPTIMUM):
        result.watch.hold()
    verdicts = {copycat: judge(copycat)}
    result.watch.hold(lambda subject: verdicts[subject].right if isinstance(subject, Scheme) else True)
    rows = [row for row in result_of(result, verdicts).table("comparison").records() if row["scheme"] == "copycat"]
    assert [(row["verdict"], row["gap to optimum"]) for row in rows] == [("LOSSY", None)] * 2


def test_two_schemes_of_one_name_are_judged_apart(tmp_path: Path) -> None:
    """A user's scheme that calls itself maximal coupling neither gets its verdict nor gives it its own."""
    (tmp_path / "named_alike.py").write_text(
        "from dataclasses import replace\nfrom spec_math import SCHEMES\n"
        "mine = replace(SCHEMES[0], verify=lambda coin, tokens, target, draft: tokens[0], emit=None)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        found = study(CompareRequest(ks="1", schemes=("named_alike:mine",), positions=5), lambda *_: lambda _: None)
    assert found.exit_code == 1
    rows = list(csv.DictReader(io.StringIO(as_csv(found.table("comparison")))))
    verdicts = [row["verdict"] for row in rows if row["scheme"] == "maximal coupling"]
    assert verdicts == ["lossless", "LOSSY"]
