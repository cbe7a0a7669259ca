"""The study of lossy rules: its numbers are those of the rules, and none is above the frontier."""

import json
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

from spec_math.cli import app
from spec_math.lossy import OF_LOGITS, RULES, ensemble, margin
from spec_math.studies import overview
from spec_math.studies.blocks.comparison import embedded
from spec_math.studies.lossy import (
    LossyRequest,
    Point,
    Source,
    advice,
    finding,
    growth_table,
    laws_of,
    mean,
    measured,
    named,
    nearest,
    points_of,
    result_of,
    study,
)


def untold(_what, _steps):
    return lambda _done: None


def pairs(number=3, size=6, seed=0):
    rng = np.random.default_rng(seed)
    return [tuple(rng.dirichlet(np.ones(size), size=2)) for _ in range(number)]


@pytest.fixture
def files(tmp_path):
    laws = pairs(5)
    for place, name in enumerate(("t", "d")):
        np.save(tmp_path / f"{name}.npy", np.array([pair[place] for pair in laws]))
        np.save(tmp_path / f"{name}_logits.npy", np.log(np.array([pair[place] for pair in laws])))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["lossy", *map(str, arguments)])


@pytest.mark.parametrize("rule", (*RULES, *OF_LOGITS), ids=lambda rule: rule.name)
def test_no_point_is_above_the_frontier(rule):
    for point in points_of(rule, pairs(), 2, [3.0, -3.0, 20.0]):
        # Sums of six masses and their quotients: far below 1e-12, and 1e-9 for what mentored decoding brackets.
        assert mean(point.possible) >= mean(point.acceptance) - 1e-9
        assert all(tested <= accepted + 1e-12 for tested, accepted in zip(point.tested, point.acceptance, strict=True))


def test_mars_is_measured_on_files_of_logits_with_their_own_constant(files):
    """Where 5 is added to all logits no law changes, and MARS does; without logits it is refused by name."""
    np.save(files / "raised.npy", np.load(files / "t_logits.npy") + 5)
    found = {}
    for target in ("t_logits", "raised"):
        paths = str(files / f"{target}.npy"), str(files / "d_logits.npy")
        rows = study(LossyRequest(*paths, logits=True, k=1, rules=("MARS", "ensemble")), untold).tables[0].rows
        found[target] = {(row.cells[1], row.cells[3]): row.cells[7].value for row in rows}
    one, other = found["t_logits"], found["raised"]
    laws = [(np.load(files / "t.npy")[row], np.load(files / "d.npy")[row]) for row in range(5)]
    for ratio in ("19/20", "1/2"):
        for offset, shown in ((0.0, one), (5.0, other)):
            # ln Σ exp z is the constant itself, as the laws sum to 1: to roundings of six logarithms.
            options = [margin.Options(ratio, round(offset + float(np.log(t.sum())), 12)) for t, _ in laws]
            emitted = [margin.law(t, d, 1, option) for (t, d), option in zip(laws, options, strict=True)]
            far = np.mean([np.abs(law - t).sum() / 2 for law, (t, _) in zip(emitted, laws, strict=True)])
            assert abs(shown["MARS", ratio] - far) < 1e-12
    assert one["MARS", "1/2"] != other["MARS", "1/2"]
    assert one["ensemble", "1/2"] == pytest.approx(other["ensemble", "1/2"], abs=1e-12)
    refused = run("--rule", "MARS", "--target", files / "t.npy", "--draft", files / "d.npy")
    assert refused.exit_code == 2
    assert "MARS needs logits" in " ".join(refused.output.split())


def test_the_numbers_are_the_means_of_the_rules_own():
    laws = pairs()
    point = points_of(RULES[0], laws, 1)[4]
    assert point.value == "1/2"
    assert point.acceptance == [float(ensemble.acceptance(t, d, 1, "1/2")) for t, d in laws]
    assert np.allclose(point.total_variation, [np.maximum(d - t, 0).sum() / 2 for t, d in laws], atol=1e-12)
    assert abs(point.gain - point.spent) < 1e-12


def test_every_mean_over_positions_is_shown_with_its_spread():
    """In both tables; that of a difference is that of the differences, position by position."""
    laws = pairs()
    points = points_of(RULES[0], laws, 1)
    result = result_of([(Source("few", len(laws), 6), points)], RULES[:1], 1, 0.1, 10)
    (shown,) = result.tables[1].records()
    point = next(one for one in points if one.value == shown["at"])
    gains = [accepted - best for accepted, best in zip(point.acceptance, point.lossless, strict=True)]
    spread = np.std(gains, ddof=1) / len(gains) ** 0.5
    assert shown["gain"].samples == len(laws)
    assert abs(shown["gain"].error - spread) < 1e-15
    apart = (np.var(point.acceptance, ddof=1) + np.var(point.lossless, ddof=1)) ** 0.5 / len(gains) ** 0.5
    assert spread < apart / 2  # the control: as if both were independent
    for name in ("total variation", "KL(e|t)", "acceptance", "possible gain"):
        assert shown[name].error > 0, name


def test_a_rule_is_shown_near_the_bias_that_is_asked_for():
    points = points_of(RULES[0], pairs(), 1)
    shown = nearest(points, RULES[0], 0.1)
    assert abs(shown.spent - 0.1) == min(abs(point.spent - 0.1) for point in points if point.spent > 0)


def test_a_rule_that_gains_all_that_is_possible_is_not_called_poor():
    """Where little is left to gain a unit of bias buys little, whatever the rule; the control gains a fifth of that."""
    whole = Point(RULES[0], "1/2", [1.0], [1.0], [0.9], [1.0], [0.3])
    poor = Point(RULES[1], "1/2", [0.92], [0.92], [0.9], [1.0], [0.3])
    told = " ".join(advice([whole, poor], RULES[:2]))
    poor_ones = told.partition("gain less than half of the possible gain at the same total variation: ")[2]
    assert poor_ones.startswith(f"{RULES[1].name}. ")


def test_notes_are_about_the_rules_that_were_asked_for():
    laws = [("a pair", [([0.25, 0.75], [0.5, 0.5])])]
    one, all_of_them = (
        " ".join(str(sentence) for sentence in measured(laws, LossyRequest(rules=names), untold).notes)
        for names in (("ensemble",), ())
    )
    assert "Each rule verifies one sampled draft." in one
    assert "greedy decoding" not in one
    for rule in RULES:
        assert (rule.name in all_of_them) >= (rule.several or rule.greedy)


def test_finding_and_advice_name_the_good_and_the_poor():
    rules = [rule for rule in RULES if rule.name in ("ensemble", "typical acceptance")]
    good = Point(rules[0], "1/2", [0.6], [0.6], [0.5], [0.6], [0.1])
    poor = Point(rules[1], "1/2", [0.4], [0.4], [0.5], [0.6], [0.1])
    said = finding([good, poor], rules, 0.1)
    assert said == (
        "Near a total variation of 0.1 per token, the largest gain is +0.01 acceptance for each 0.01 of total "
        "variation, by ensemble. The best lossless rule for the same drafts accepts more than typical acceptance."
    )
    told = " ".join(advice([good, poor], rules))
    assert "(no rule can gain more than 0.01): ensemble. " in told
    assert "for the same drafts accepts more than each of these rules: typical acceptance." in told


def test_texts_of_four_tokens_are_shown_beside_their_bounds():
    (table,) = growth_table([rule for rule in RULES if not rule.several])
    for row in table.rows:
        one, _, four, coupled, uniform = row.cells[2:7]
        assert one <= four
        assert coupled is None or four <= coupled <= uniform
    assert [row.cells[0] for row in table.rows][-2:] == ["FLy, blocks of two drafts", "MTAD, the same"]


def test_a_rule_that_spends_nothing_is_shown_and_buys_nothing():
    same = [(np.array([0.5, 0.5]), np.array([0.5, 0.5]))]
    result = result_of([(Source("same", 1, 2), points_of(RULES[0], same, 1))], RULES[:1], 1, 0.1, 10)
    assert result.finding == "No rule differs from the target here."


def test_the_command_writes_page_tables_and_picture(files):
    result = run("--target", files / "t.npy", "--draft", files / "d.npy", "--out", files / "out")
    assert result.exit_code == 0, result.output
    assert "typical acceptance" in result.output
    written = {path.name for path in (files / "out").iterdir()}
    assert {"lossy.html", "lossy.json", "lossy.csv"} <= written
    assert any(name.endswith(".svg") for name in written)
    held = json.loads((files / "out" / "lossy.json").read_text(encoding="utf-8"))
    assert held["name"] == "lossy"


def test_logits_and_laws_give_the_same_numbers(files):
    laws = study(LossyRequest(str(files / "t.npy"), str(files / "d.npy"), rules=("ensemble",)), untold)
    logits = study(
        LossyRequest(str(files / "t_logits.npy"), str(files / "d_logits.npy"), True, rules=("ensemble",)), untold
    )
    found = [[row.cells[4].value for row in result.table("lossy").rows] for result in (laws, logits)]
    assert np.abs(np.array(found[0]) - np.array(found[1])).max() < 1e-12


def test_both_embedded_defaults_are_looked_at():
    result = study(LossyRequest(rules=("ensemble", "fuzzy"), positions=2), untold)
    assert [picture.name for picture in result.pictures] == ["documentation", "source-code"]
    assert {row.cells[0] for row in result.table("lossy").rows} == {"documentation", "source code"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rule", "nothing"], "no rule begins with 'nothing'; there are: ensemble, lenience"),
        (["--bias", "2"], "--bias must lie in [0, 1]; got 2"),
        (["--k", "0"], "--k must be at least 1; got 0"),
        (["--length", "0"], "--length must be at least 1; got 0"),
        (["--positions", "0"], "--positions must be at least 1; got 0"),
        (["--target", "t.npy"], "--target and --draft come together; only one was given"),
    ],
)
def test_bad_input_is_a_sentence_and_ends_with_2(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_rules_are_named_by_their_beginnings():
    assert [rule.name for rule in named(["TYP", "two"])] == ["typical acceptance", "two thresholds"]
    assert named([]) == RULES


def test_the_report_shows_the_rules_that_are_lossy_by_design():
    shown = overview.lossy(3, 0, untold)
    assert shown.finding.startswith("Rules that are lossy by design: ")
    assert sorted(row.cells[0] for row in shown.table("at-documentation").rows) == sorted(rule.name for rule in RULES)
    assert [picture.name for picture in shown.pictures] == ["documentation"]
    curves = {curve.label: curve for panel in shown.pictures[0].panels for curve in panel.curves}
    assert set(curves) >= {rule.name for rule in RULES}
    # The ensemble of weight w is (1 − w)·TV(t, d) away: each point of its curve, from the laws themselves.
    pairs_of_laws = laws_of(embedded(), 3)
    assert len(pairs_of_laws) == 3
    apart = np.mean([np.abs(t - d).sum() / 2 for t, d in pairs_of_laws])
    expected = [(1 - float(Fraction(weight))) * apart for weight in RULES[0].swept]
    assert np.allclose(curves["ensemble"].x, expected, rtol=0, atol=1e-11)
    assert apart > 0.01
    with pytest.raises(ValueError, match="--positions must be at least 1"):
        overview.lossy(0, 0, untold)
