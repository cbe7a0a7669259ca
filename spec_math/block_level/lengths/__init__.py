"""Expected tokens per call: averaged over a verifier's coins, sampled, and divided by costs."""
