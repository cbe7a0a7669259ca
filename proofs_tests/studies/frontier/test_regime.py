"""Regimes: how sharp the embedded defaults are, and what temperature does to them."""

from __future__ import annotations

from spec_math.studies.frontier import contenders
from spec_math.studies.frontier.contenders import at, defaults


def test_source_code_is_sharper_than_prose_and_temperature_sharpens_it() -> None:
    """Orders, and not digits: another Python learns from other files."""
    prose, code = (at(name, models, 1).facts for name, models in defaults())
    cold = at("code", defaults()[1][1], 0.5).facts
    assert prose.target_bits > code.target_bits > cold.target_bits
    assert prose.target_top < code.target_top < cold.target_top
    assert 1 < cold.target_bits < 2 < code.target_bits < 4
    assert code.draft_bits > code.target_bits
    assert 0.4 < code.overlap < 0.9


def test_defaults_are_learnt_once() -> None:
    assert contenders.source_code() is contenders.source_code()
