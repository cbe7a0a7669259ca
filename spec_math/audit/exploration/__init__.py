"""A function run down every path of its randomness: its exact law."""
