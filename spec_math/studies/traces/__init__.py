"""Recorded traces, as pages, tables and pictures."""
