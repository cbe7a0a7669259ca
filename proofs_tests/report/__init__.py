"""Proofs of the numbers behind the report."""
