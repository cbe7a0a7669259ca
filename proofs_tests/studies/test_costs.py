"""Costs are read from a line or a CSV file, interpolated between measured points, and never guessed beyond them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from spec_math.mean import Mean, known
from spec_math.studies.costs import Costs, UnmeasuredError, parsed

MEASURED = "target=1:20ms,9:24ms,33:36ms; draft=1:1ms,4:2500us; verify=20us; drafting=0.5ms"


def test_assumed_costs_are_a_roofline() -> None:
    free = parsed("draft=0, knee=8, verify=0")
    assert [free.of_call(nodes, 1, 1) for nodes in (1, 7, 15)] == [1, 1, 2]
    # A batch of 8 is at the knee already: every node costs.
    assert parsed("draft=0, knee=8, verify=0", 8).of_call(1, 1, 1) == 2
    assert parsed("draft=.25, knee=8, verify=0").of_call(2, 2, 2) == Fraction(3, 2)
    assert parsed("") == Costs()


def test_measured_latencies_are_interpolated_between_their_points() -> None:
    costs = parsed(MEASURED)
    by_hand = 24 + 2 * (1 + Fraction(3, 2) / 3 * 1) + 8 * Fraction(1, 50) + Fraction(1, 2)
    assert costs.of_call(8, 2, 2) == by_hand / 20
    between = [costs.weights(nodes, 1, 1) for nodes in range(8, 33)]
    latencies = [costs.latency(one) for one in between]
    assert latencies == sorted(latencies)
    assert costs.speed_up(Fraction(3), 8, 2, 2) == 3 * 20 / by_hand


@pytest.mark.parametrize(("shape", "named"), [((33, 1, 1), "a target call"), ((8, 2, 5), "a draft step")])
def test_beyond_the_last_point_nothing_is_known(shape: tuple[int, int, int], named: str) -> None:
    wanted = shape[2] if "draft" in named else shape[0] + 1
    with pytest.raises(UnmeasuredError, match=f"{named} is measured from size 1 to .*, not at {wanted}"):
        _ = parsed(MEASURED).of_call(*shape)


def test_a_csv_file_says_the_same_as_a_line(tmp_path: Path) -> None:
    rows = "call,size,latency,spread\ntarget,1,20ms,\ntarget,9,24ms,1ms\ntarget,33,36ms\ndraft,1,1ms\ndraft,4,2500us\n"
    assert (tmp_path / "mine.csv").write_text(rows + "verify,,20us\ndrafting,,0.5ms\n", encoding="utf-8")
    assert parsed(str(tmp_path / "mine.csv")) == parsed(MEASURED.replace("9:24ms", "9:24ms ± 1ms"))
    assert parsed(str(tmp_path / "mine.csv")) != parsed(MEASURED)


def test_the_interval_of_the_speed_up_holds_every_latency_within_its_spread() -> None:
    """Against all corners of the box of latencies, each of which is a line of costs of its own."""
    line = "target=1:{}ms,9:{}ms; draft=1:{}ms; verify={}ms"
    spreads = {"20": "1", "24": "2", "1": "0.25", "0.05": "0.01"}
    stated = parsed(line.format(*(f"{mean}±{spread}" for mean, spread in spreads.items())))
    ends = [(Fraction(mean) - Fraction(spread), Fraction(mean) + Fraction(spread)) for mean, spread in spreads.items()]
    tokens = Mean(3.0, 0.1, 100, 2.75, 3.25, 0.99)
    corners = [
        Costs(parsed(line.format(*map(float, corner))).calls).speed_up(1.0, 4, 4, 1) for corner in product(*ends)
    ]
    found = stated.faster(tokens, 4, 4, 1)
    assert found.interval == pytest.approx((2.75 * min(corners), 3.25 * max(corners)), rel=2.0**-50)
    assert found.value == pytest.approx(3 * parsed(line.format(*spreads)).speed_up(1.0, 4, 4, 1), rel=2.0**-50)
    # An exact number of tokens still has the interval of the costs, and exact costs leave it exact.
    assert stated.faster(known(3), 4, 4, 1).interval == pytest.approx(
        (3 * min(corners), 3 * max(corners)), rel=2.0**-50
    )
    assert parsed(line.format(*spreads)).faster(known(3), 4, 4, 1).samples == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("draft", "draft takes LATENCY or SIZE:LATENCY"),
        ("speed=1", "takes target, draft, verify, drafting and knee"),
        ("draft=x", "draft takes LATENCY"),
        ("draft=-1", "draft takes LATENCY"),
        ("verify=inf", "verify takes LATENCY"),
        ("knee=0", "knee must be at least 1 token"),
        ("draft=1ms", "state the target's latency too, such as target=20ms"),
        ("target=20ms; draft=1", "give every latency a unit"),
        ("target=20ms", "add draft=LATENCY"),
        ("target=8:20ms; draft=1ms", "plain decoding needs target=1:LATENCY"),
        ("target=20±20; draft=1", "must take longer than its spread"),
        ("draft=1:1,1:2", "two numbers for one size"),
        ("draft=1,4:2", "two numbers for one size"),
        ("draft=0:1", "sizes start at 1"),
    ],
)
def test_costs_that_are_none_are_refused_with_the_cure(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="--costs") as refused:
        _ = parsed(text)
    assert said in str(refused.value)


def test_measured_costs_are_those_of_one_batch() -> None:
    with pytest.raises(ValueError, match="leave --batch out"):
        _ = parsed(MEASURED, 8)


def test_a_csv_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    assert (tmp_path / "mine.csv").write_text("target,20ms\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the first line names the columns call,size,latency"):
        _ = parsed(str(tmp_path / "mine.csv"))
