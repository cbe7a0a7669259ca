"""Methods for two vocabularies that have text in common: ψ, segmentations, and verification at the level of strings."""

from spec_math.string_level import (
    acceptance_table,
    alignment,
    exact_match,
    psi,
    rejection,
    repetition,
    segmentation,
    speed,
    timing,
    timing_window,
)
from spec_math.string_level.methods import METHODS, Method

__all__ = [
    "METHODS",
    "Method",
    "acceptance_table",
    "alignment",
    "exact_match",
    "psi",
    "rejection",
    "repetition",
    "segmentation",
    "speed",
    "timing",
    "timing_window",
]
