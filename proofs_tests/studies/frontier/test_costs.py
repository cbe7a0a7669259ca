"""Costs are a roofline, and are read from a text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec_math.studies.frontier.comparison import Costs, parsed


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
