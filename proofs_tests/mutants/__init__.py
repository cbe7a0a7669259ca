"""Mutation testing: wrong versions of the library, made by machine, that some test must reject."""
