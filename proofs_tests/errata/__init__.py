"""Statements of the papers that do not hold as printed, each with an exact counterexample."""
