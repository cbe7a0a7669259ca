"""Somebody else's sampler: its exact law, what breaks in it, and the bugs that are known."""
