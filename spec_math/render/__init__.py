"""How a result is shown: in the terminal, as one HTML document, as CSV and JSON, and as pictures."""
