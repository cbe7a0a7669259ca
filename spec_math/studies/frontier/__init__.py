"""Drafts, tree and verifier: all methods under one budget of verified nodes."""
