"""Advice: from recorded logits and measured latencies to a method, its speed-up and what would change it."""
