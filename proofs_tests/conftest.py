"""Hypothesis is derandomised, so that a run is the same run everywhere."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "proofs", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("proofs")
