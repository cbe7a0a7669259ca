"""Views of a result: in the terminal, as one HTML document, as CSV and JSON, and as pictures."""
