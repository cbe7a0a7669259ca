"""Samplers as they are, right ones and wrong ones, by the library that they draw from."""
