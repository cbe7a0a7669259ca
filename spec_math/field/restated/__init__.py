"""Rules of samplers that cannot be run path by path, written down here after their source, in code of our own."""
