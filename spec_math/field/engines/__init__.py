"""Adapters of real engines: each is a function that returns the exact law of one of the engine's calls."""
