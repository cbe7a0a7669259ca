"""What was wrong once and must not be again: a verdict may be refused, left open or slow, but never wrong."""
