"""Comparison of schemes over many positions: files in, tables, pictures and a page out."""
