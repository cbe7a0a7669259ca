"""Methods for two vocabularies that have text in common: ψ, segmentations, and verification at the level of strings."""

from spec_math.string_level import alignment, exact_match, psi, rejection, segmentation, speed, timing
from spec_math.string_level.methods import METHODS, Method

__all__ = ["METHODS", "Method", "alignment", "exact_match", "psi", "rejection", "segmentation", "speed", "timing"]
