"""Tokens per call of all methods on the same texts: what each unit of a race gives."""
