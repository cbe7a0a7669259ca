"""FIXME: name this folder's content."""
