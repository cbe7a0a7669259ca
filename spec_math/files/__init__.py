"""Files on the lowest floor: one function that writes a file whole or not at all, and what is named MODULE:NAME."""
