"""Proofs for every law: the library's programs run on symbols, and z3 discards the regions that hold no law."""

from spec_math.symbolic.every_law import THEOREMS, chosen
from spec_math.symbolic.proof import Counterexample, Proof, Theorem, prove, regions

__all__ = ["THEOREMS", "Counterexample", "Proof", "Theorem", "chosen", "prove", "regions"]
