"""Hypothesis is derandomised, so that a run is the same run everywhere."""

import os

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "proofs", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
# A mutant is rejected by any counterexample: none is made small.
settings.register_profile("mutants", settings.get_profile("proofs"), phases=(Phase.explicit, Phase.generate))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "proofs"))

# It drives mutmut, which is installed by `make mutants` alone.
collect_ignore = ["mutants/judge.py"]


def pytest_runtest_setup() -> None:
    """A width or colours that one test, or what it explores, leaves in the environment are not another test's."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"):
        _ = os.environ.pop(name, None)
