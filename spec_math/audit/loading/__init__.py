"""Somebody's file, loaded as it lies in its package, with stand-ins for what it imports and is not installed."""
