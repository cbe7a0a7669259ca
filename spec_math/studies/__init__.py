"""Comparisons, a package each, which computes one result: positions, blocks, vocabularies, traces, proofs."""
