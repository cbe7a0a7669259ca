"""The judge of somebody else's sampler."""
