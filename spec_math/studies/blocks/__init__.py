"""Whole blocks: compared, explained, drawn."""
