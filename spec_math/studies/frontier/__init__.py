"""Which drafts, which tree, which verifier: all methods under one budget of verified nodes."""
