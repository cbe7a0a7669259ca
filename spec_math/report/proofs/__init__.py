"""Proofs for every law, as a table."""
