"""Hypothesis is derandomised, so that a run is the same run everywhere."""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "proofs", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
# A mutant is rejected by any counterexample: none is made small.
settings.register_profile("mutants", settings.get_profile("proofs"), phases=(Phase.explicit, Phase.generate))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "proofs"))

# Processes of tests run side by side, one a core, on small arrays: threads of torch and of BLAS would wait for each
# other, spinning. It is read when these libraries are loaded, here and in commands that tests run.
_ = os.environ.setdefault("OMP_NUM_THREADS", "1")

# A process of tests holds millions of objects: looking through the young for what is garbage every 700 objects, and
# through all of them after a hundred such looks, would take long. Every audit looks through the young for random
# generators, so that they are not to be many.
gc.set_threshold(10_000, 2, 500)

# It drives mutmut, which is installed by `make mutants` alone.
collect_ignore = ["mutants/judge.py"]


def pytest_runtest_setup() -> None:
    """A width or colours that one test, or what it explores, leaves in the environment are not another test's."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"):
        _ = os.environ.pop(name, None)


@pytest.fixture
def coarse_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratios are rounded to 0, 1/2, 1, 2 and 3: some lie beyond, and the Fractions of other points are not computed."""
    from spec_math.block_level.batch import ratio_cells

    monkeypatch.setattr(ratio_cells, "BITS", 1)
    monkeypatch.setattr(ratio_cells, "OCTAVES", 2)


# A shell starts what it runs in the background with interrupts ignored, and so would be the commands that tests start
# and interrupt. With a handler of its own a process hands on the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
