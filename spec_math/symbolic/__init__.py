"""Proofs for every law: the library's programs run on symbols, and z3 discards the regions that hold no law."""

from spec_math.symbolic.every_law import THEOREMS, chosen
from spec_math.symbolic.number import SymbolError
from spec_math.symbolic.proof import Proof, prove, regions
from spec_math.symbolic.theorem import Counterexample, Theorem

__all__ = ["THEOREMS", "Counterexample", "Proof", "SymbolError", "Theorem", "chosen", "prove", "regions"]
