"""Proofs for every law: theorems side by side in processes that end with the work, and what was found."""
