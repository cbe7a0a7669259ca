"""Tests of `spec_math.pathwise`: exact distributions of unmodified code."""
