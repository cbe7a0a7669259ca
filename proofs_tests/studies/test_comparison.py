"""The comparison: its means are the means of the closed forms, whatever the chunks; its verdicts are exact."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from proofs_tests.controls import CONTROLS
from proofs_tests.render.read_results import from_json
from spec_math import overlap, residual
from spec_math.files.law_files import open_laws
from spec_math.invariants import BrokenInvariantError
from spec_math.render.data import as_csv, as_json
from spec_math.render.figure import look
from spec_math.samplers.standard import pairs
from spec_math.scheme import Scheme, draw_independent
from spec_math.studies.arguments import no_progress
from spec_math.studies.positions.comparison import Facts, Line, Tally, compare
from spec_math.studies.positions.stream import Batch, from_files, from_rows
from spec_math.studies.positions.study import CompareRequest, finding, result_of, study
from spec_math.studies.positions.verdicts import SchemeVerdict, judge
from spec_math.token_level import SCHEMES, optimal, single
from spec_math.token_level.streamed import rounding
from spec_math.verdict import Lossy, check_lossless

SIZE, COUNT = 12, 40


def laws(seed):
    rng = np.random.default_rng(seed)
    masses = rng.random((COUNT, SIZE)) ** 4
    return masses / masses.sum(axis=1, keepdims=True)


def ignore(_done):
    """A progress bar that nobody watches."""


def half_of_it(target, draft, _k):
    return single.acceptance(target, draft) / 2


def positions():
    t, d = laws(0), laws(1)
    return from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (COUNT, SIZE))


def test_every_mean_is_the_mean_of_the_closed_form():
    t, d = laws(0), laws(1)
    result = compare(positions(), SCHEMES, (1, 2, 3), ignore)
    assert result.sampled == COUNT
    for line, scheme in zip(result.lines, SCHEMES, strict=True):
        for k, tally in line.acceptance.items():
            expected = [float(scheme.acceptance(row, other, k)) for row, other in zip(t, d, strict=True)]
            assert tally.count == COUNT
            # Means of 40 numbers that agree to the bound of test_streamed: 2^-40, as their sums are of a dozen masses.
            assert abs(tally.mean - np.mean(expected)) <= 2.0**-40, (scheme.name, k)
            spread = np.std(expected, ddof=1) / COUNT**0.5
            assert abs(tally.error - spread) <= 2.0**-20
    for k in (1, 2, 3):
        assert abs(result.optima[0].acceptance[k].mean - np.mean(optimal.acceptance(t, d, k))) <= 2.0**-40
        best = np.mean(optimal.acceptance_without_replacement(t, d, k))
        assert abs(result.optima[1].acceptance[k].mean - best) <= 2.0**-40


def test_no_scheme_is_above_the_optimum_of_its_drafts():
    result = compare(positions(), SCHEMES, (1, 2, 4), ignore)
    for line in result.lines:
        for k in line.acceptance:
            assert line.gap(k).value >= -2 * rounding(SIZE, k), (line.name, k)


def test_progress_counts_every_position_once():
    seen = []
    compare(positions(), SCHEMES[:1], (1,), seen.append)
    assert sum(seen) == COUNT


def test_the_seed_makes_the_sampled_columns_repeat():
    big = np.random.default_rng(5).dirichlet(np.ones(300), size=8)
    stream = from_rows(lambda a, b: big[a:b], lambda a, b: np.roll(big, 1, axis=1)[a:b], (8, 300))
    scheme = [scheme for scheme in SCHEMES if scheme.estimate is not None]
    first, again, other = (compare(stream, scheme, (4,), ignore, seed=s) for s in (0, 0, 1))
    means = [r.lines[0].acceptance[4].mean for r in (first, again, other)]
    assert means[0] == means[1] != means[2]
    assert abs(means[0] - means[2]) < 1e-3


def test_one_position_knows_no_spread():
    tally = Tally()
    tally.add(np.array([0.5]))
    assert tally.mean == 0.5
    assert np.isnan(tally.error)
    t = np.array([[0.5, 0.5]])
    result = compare(from_rows(lambda a, b: t[a:b], lambda a, b: t[a:b], (1, 2)), SCHEMES, (1,), ignore)
    found = result_of(result, {})
    assert all(np.isnan(mean.error) for mean in found.table("comparison").cells("acceptance"))
    assert found.notes[0].text.startswith("The means are over 1 position, V = 2.")


def test_lines_of_fewer_positions_are_spoken_of_where_there_are_some():
    for count, spoken in ((100, False), (10_000, True)):
        half = lambda start, stop: np.full((stop - start, 64), 1 / 64)  # noqa: E731
        found = result_of(compare(from_rows(half, half, (count, 64)), SCHEMES, (1,), ignore), {})
        assert any("Rows with fewer positions" in note.text for note in found.notes) == spoken


def test_where_no_draft_is_kept_no_scheme_is_recommended():
    rows = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    result = compare(from_rows(*(lambda a, b, row=row: row[a:b] for row in rows), (1, 2)), SCHEMES, (1, 2), ignore)
    assert finding(result, {}) == "No scheme is seen to accept a draft at k = 2."


def test_an_anchored_tally_is_unbiased_and_its_error_is_that_of_the_difference_estimator():
    rng = np.random.default_rng(3)
    every = rng.random(1000)
    values = every + 0.1 * rng.random(1000) + 0.2
    anchor = Tally()
    tally = Tally(anchor)
    anchor.add(every)
    tally.add(values[::10], every[::10])
    assert abs(tally.mean - values.mean()) <= 4 * 0.1 / 12**0.5 / 10
    spread = every.var(ddof=1) + values[::10].var(ddof=1) - every[::10].var(ddof=1)
    expected = spread / 1000 + (1 / 100 - 1 / 1000) * (values - every)[::10].var(ddof=1)
    assert abs(tally.error**2 - expected) <= 2.0**-40
    plain = Tally()
    plain.add(values[::10])
    assert plain.error > 2 * tally.error


def test_a_tally_is_the_same_however_its_values_come():
    values = np.random.default_rng(5).random(200)
    at_once, in_parts = Tally(), Tally()
    at_once.add(values)
    for start in range(0, 200, 20):
        in_parts.add(values[start : start + 20])
    for tally in (at_once, in_parts):
        assert tally.count == 200
        assert abs(tally.mean - values.mean()) < 2.0**-45
        assert abs(tally.error - values.std(ddof=1) / 200**0.5) < 2.0**-45


def test_csv_and_json_hold_the_rows():
    result = compare(positions(), SCHEMES, (1, 2), ignore)
    verdicts = {scheme: judge(scheme) for scheme in SCHEMES[:2]}
    found = result_of(result, verdicts)
    long, wide = found.tables
    lines = [*result.lines, *result.optima]
    assert [(row["scheme"], row["k"]) for row in long.records()] == [(x.name, k) for x in lines for k in x.acceptance]
    for row, (line, k) in zip(long.records(), [(x, k) for x in lines for k in x.acceptance], strict=True):
        assert row["acceptance"].value == line.acceptance[k].mean
        assert row["gap to optimum"] == line.gap(k)
    assert long.records()[0]["verdict"] == "lossless"
    assert len(as_csv(long).splitlines()) == 1 + len(long.rows)
    assert from_json(as_json(found)) == found
    assert {row.cells[0] for row in wide.rows} >= {line.name for line in lines}
    assert found.finding.startswith("Take ")


def test_the_finding_takes_no_lossy_scheme():
    result = compare(positions(), SCHEMES, (1, 2), ignore)
    best = max((line for line in result.lines if 2 in line.acceptance), key=lambda line: line.acceptance[2].mean)
    verdicts = {scheme: judge(scheme) for scheme in SCHEMES if scheme is best.scheme}
    assert f"Take {best.name}:" in finding(result, verdicts)
    lossy = {best.scheme: SchemeVerdict(Lossy("made up"), 1)}
    assert f"Take {best.name}:" not in finding(result, lossy)
    assert result_of(result, lossy).exit_code == 1


def test_a_tally_is_a_mean_with_its_standard_error():
    tally = Tally()
    values = np.array([0.25, 0.5, 1.0, 0.0])
    tally.add(values[:3])
    tally.add(values[3:])
    assert tally.mean == values.mean()
    assert abs(tally.error - values.std(ddof=1) / 2) <= 8 * 2.0**-53


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_right_schemes_are_judged_lossless_with_their_formulas(scheme):
    assert str(judge(scheme)) == "lossless"


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.why[:40])
def test_the_fixed_pairs_expose_every_control(control):
    """The set behind the verdict column would be worthless if a wrong verifier could pass it."""
    verify = control.verifier
    if isinstance(verify, Scheme):
        found = judge(verify)
        assert not found.verdict
        return
    assert any(not check_lossless(verify, target, draft, k) for target, draft, k in pairs())


def test_a_wrong_formula_is_told_from_a_wrong_verifier():
    wrong = Scheme("wrong formula", single.draw, single.verify, half_of_it)
    found = judge(wrong)
    assert found.verdict
    assert str(found) == "formula wrong"
    assert "acceptance says 3/8, the program has 3/4" in found.formula_fault


def test_other_display_names_change_the_labels_alone():
    renamed = tuple(replace(scheme, name=f"number {place}") for place, scheme in enumerate(SCHEMES))
    names = dict(zip((scheme.name for scheme in SCHEMES), (scheme.name for scheme in renamed), strict=True))
    ours, theirs = (result_of(compare(positions(), given, (1, 2, 4), ignore), {}) for given in (SCHEMES, renamed))
    for table, other in zip(ours.tables, theirs.tables, strict=True):
        for row, renamed_row in zip(table.rows, other.rows, strict=True):
            bare = row.cells[0]
            assert renamed_row.cells[0] == names.get(bare, bare)
            assert renamed_row.cells[1:] == row.cells[1:]
    for curve, other in zip(ours.pictures[0].panels[0].curves, theirs.pictures[0].panels[0].curves, strict=True):
        assert replace(other, label=curve.label) == curve
    taken = ours.finding.removeprefix("Take ").partition(":")[0]
    assert theirs.finding.removeprefix("Take ").partition(":")[0] == names[taken]


def test_a_toy_verifier_of_a_package_of_its_own_has_its_row_its_verdict_and_its_look(tmp_path, monkeypatch):
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "__init__.py").write_text("from toys.half import half\nTOYS = (half,)\n")
    (tmp_path / "toys" / "half.py").write_text(
        "def half(coin, tokens, target, draft):\n"
        "    return tokens[0] if coin.flip(min(1, target[tokens[0]] / draft[tokens[0]])) else coin.draw(target)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = study(CompareRequest(ks="1,2", schemes=("toys:half",) * 3, positions=4), no_progress)
    assert found.exit_code == 1
    rows = [row for row in found.table("comparison").records() if row["scheme"] == "toys:half"]
    assert len(rows) == 6
    assert all(row["verdict"] == "LOSSY" and row["acceptance"].value > 0 for row in rows)
    drawn = [curve.label for curve in found.pictures[0].panels[0].curves if curve.style == "line"]
    assert drawn.count("toys:half") == 3
    assert len(drawn) > 10
    assert len({look(place) for place in range(len(drawn))}) == len(drawn)


def one_draft(coin, tokens, target, draft):
    (x,) = tokens
    return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(residual(target, draft))


def never(coin, tokens, target, draft):  # noqa: ARG001
    raise RuntimeError("it needs a model")


def seldom(coin, tokens, target, draft):  # noqa: ARG001
    return tokens[0] if len(tokens) < 3 else coin.draw(target)


@pytest.mark.parametrize(
    ("verify", "said", "code"), [(one_draft, "lossless for 1 draft", 0), (never, "undecided", 3), (seldom, "LOSSY", 1)]
)
def test_what_was_not_judged_is_not_called_lossy(verify, said, code):
    """One that is written for one draft, one that decides nothing, and a lossy one, which stays so."""
    scheme = Scheme("mine", draw_independent, verify, overlap_of, overlap_of)
    found = judge(scheme)
    assert (str(found), found.right, found.faulty) == (said, code == 0, code == 1)
    result = result_of(compare(positions(), [scheme], (1,), ignore), {scheme: found})
    assert result.exit_code == code
    assert ("Take mine:" in result.finding) == (code == 0)
    told = " ".join(note.text for note in result.notes)
    assert ("not judged for 2 (ValueError" in told) == (verify is one_draft)
    assert ("counterexample" in told) == (code == 1)
    assert ("it needs a model" in told) == (verify is never)


def overlap_of(target, draft, k):  # noqa: ARG001
    return overlap(target, draft)


@pytest.mark.parametrize("row", [[1.0, 0.0, 3.0], [0.0, 7.0], [1e-300, 3e-300, 0.0], [1e300, 1.0, 1e300]])
def test_facts_of_a_law_that_is_not_divided_are_those_of_its_definition(row: list[float]) -> None:
    facts, masses = Facts(), [Fraction(mass) / sum(map(Fraction, row)) for mass in row]
    facts.take(Batch(0, np.array([row]), np.array([row]), 0.0), np.array([0.5]))
    entropy = -math.fsum(float(mass) * math.log(mass) for mass in masses if mass >= Fraction(1, 10**300))
    assert abs(facts.largest.mean - float(max(masses))) <= 2.0**-50
    # log S and Σ m log m / S are below 1,000 each: a few roundings of that.
    assert abs(facts.entropy.mean - entropy) <= 1_000 * 2.0**-50
    assert facts.overlap.mean == 0.5


@pytest.mark.parametrize("heat", [1.0, 0.5])
def test_the_entropy_of_logits_is_that_of_their_softmax(heat: float, tmp_path: Path) -> None:
    """The target's, at its own temperature, of one file that is the draft as well, with tokens of no mass."""
    logits = np.array([[2.0, -3.0, -np.inf, 0.5], [-2_000.0, 0.0, 1.0, 1.0]])
    np.save(tmp_path / "logits.npy", logits)
    file = open_laws(tmp_path / "logits.npy")
    facts = Facts()
    for batch in from_files(file, file, logits=True, temperatures=(heat, 3.0)).batches(1):
        facts.take(batch, np.array([1.0]))
    entropies: list[float] = []
    largest: list[float] = []
    for row in logits:
        masses = [math.exp((logit - max(row)) / heat) for logit in row]
        largest.append(max(masses) / math.fsum(masses))
        entropies.append(-math.fsum(m / sum(masses) * math.log(m / sum(masses)) for m in masses if m))
    assert abs(facts.entropy.mean - math.fsum(entropies) / 2) <= 100 * 2.0**-50
    assert abs(facts.largest.mean - math.fsum(largest) / 2) <= 2.0**-50


def test_equal_means_of_one_column_have_one_standard_error(tmp_path: Path) -> None:
    """At k = 1 many schemes are one rule: those that look at few positions have the standard error of those at all."""
    rng = np.random.default_rng(7)
    for name in ("t", "d"):
        np.save(tmp_path / f"{name}.npy", rng.dirichlet(np.full(2_000, 0.05), size=300))
    asked = CompareRequest(str(tmp_path / "t.npy"), (str(tmp_path / "d.npy"),), ks="1,2")
    rows = study(asked, no_progress).table("comparison").records()
    once = [row["acceptance"] for row in rows if row["k"] == 1]
    assert len({mean.samples for mean in once}) == 2, "some look at every position, and some at fewer"
    errors = {
        round(mean.value, 12): [other.error for other in once if abs(other.value - mean.value) < 1e-12] for mean in once
    }
    assert max(map(len, errors.values())) > 3
    assert all(max(found) - min(found) < 1e-9 for found in errors.values())


def test_a_standard_error_that_contradicts_its_anchor_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the variance of the few positions alone, which a column had before."""
    few = property(lambda tally: (tally.variance / max(tally.count, tally.anchor.count if tally.anchor else 0)) ** 0.5)
    rows = np.random.default_rng(7).dirichlet(np.full(4_096, 0.05), size=(2, 200))
    stream = from_rows(lambda a, b: rows[0, a:b], lambda a, b: rows[1, a:b], (200, 4_096))
    compare(stream, SCHEMES[:1], (1,), ignore).watch.hold()
    monkeypatch.setattr(Tally, "error", few)
    with pytest.raises(BrokenInvariantError, match="equal values have one standard error"):
        compare(stream, SCHEMES[:1], (1,), ignore).watch.hold()


take = Line.take


@pytest.mark.parametrize("wrong", [lambda gap: 0.9 * gap, lambda gap: gap + 0.01])
def test_a_gap_that_is_not_the_optimum_less_the_acceptance_is_an_error(monkeypatch, wrong) -> None:
    schemes = [scheme for scheme in SCHEMES if scheme.optimum is optimal.INDEPENDENT]
    compare(positions(), schemes, (1, 2), ignore).watch.hold()
    right = Tally.add

    def add(tally, values, anchors=None, runs=0):
        gaps = anchors is None and any(tally is gap for line in lines for gap in line.gaps.values())
        right(tally, wrong(values) if gaps else values, anchors, runs)

    lines: list[Line] = []
    monkeypatch.setattr(Line, "take", lambda line, *given: lines.append(line) or take(line, *given))
    monkeypatch.setattr(Tally, "add", add)
    with pytest.raises(BrokenInvariantError, match="the mean gap is the mean optimum less the mean acceptance"):
        compare(positions(), schemes, (1, 2), ignore).watch.hold()


def test_a_sampled_scheme_of_two_drafts_has_its_gap_whatever_the_ks_are() -> None:
    hub = next(scheme for scheme in SCHEMES if scheme.drafts == 2)
    sampled = replace(hub, streamed=None, optimum=replace(hub.optimum, streamed=None))
    (line,) = compare(positions(), [sampled], (4, 8), ignore).lines
    assert list(line.gaps) == [2]
    assert line.gap(2) is not None
