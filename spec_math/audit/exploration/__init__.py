"""Exact laws of unmodified code: a function is run along every path of its random numbers."""
