"""One position: schemes compared over many of them, and one verification step by step."""
