"""Samplers that others wrote, judged exactly: reading a signature, calling the function, comparing distributions."""
