"""The hunt's own controls: judges that are unsound on purpose, each convicted within a few cases."""

from __future__ import annotations

import pytest

from proofs_tests.soundness.controls import CONTROLS, Control, convicted_after

ENOUGH = 800
"""Cases in which a control's fault could show: each is convicted within them, and `--controls` says after how many."""


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_an_unsound_judge_is_convicted(control: Control) -> None:
    assert convicted_after(control, 20, ENOUGH) is not None


def test_there_are_ten_controls_at_least() -> None:
    assert len({control.name for control in CONTROLS}) >= 10
