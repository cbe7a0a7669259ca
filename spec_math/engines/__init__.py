"""Whole engines, judged end to end against the exact distribution of their own weights."""
