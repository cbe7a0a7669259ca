"""Advice: from recorded logits and measured latencies to a method, its speed-up, and the costs that change the choice."""
