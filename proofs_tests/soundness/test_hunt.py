"""Some thousands of random verifiers, new ones each time: no verdict on them is wrong."""

from __future__ import annotations

import os
from importlib.util import find_spec
from random import SystemRandom

import pytest

from proofs_tests.soundness.hunt import STREAMS, hunted, prepared
from proofs_tests.soundness.table import repeated_by

SEED = int(os.environ.get("SOUNDNESS_SEED") or SystemRandom().randrange(2**32))
"""A new one each time: a wrong verdict names it, and SOUNDNESS_SEED repeats the whole sample."""

CASES = {"coin": 3_000, "python": 250, "numpy": 250, "torch": 150}


@pytest.mark.parametrize("stream", STREAMS)
def test_no_verdict_on_random_verifiers_is_wrong(stream: str) -> None:
    if stream == "torch" and not find_spec("torch"):
        pytest.skip("torch is not installed")
    found = hunted(SEED, stream, range(CASES[stream]), torch=prepared(stream))
    told = [f"{one['fault']}\n{one['what']}\n{repeated_by(SEED, one['case'])}" for one in found.wrong[:3]]
    assert not found.wrong, f"{len(found.wrong)} wrong from the seed {SEED}\n" + "\n\n".join(told)
    assert found.cases.total() == CASES[stream]
