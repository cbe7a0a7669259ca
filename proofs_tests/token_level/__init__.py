"""Proofs of one position: what each verifier emits, and how often it accepts."""
