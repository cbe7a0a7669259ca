"""Verdicts on somebody else's sampler, as pages, tables and tests."""
