"""Text as the common ground of two vocabularies: ψ, segmentations, and verification at the level of strings."""
