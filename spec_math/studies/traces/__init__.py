"""What a recorded trace shows, as pages, tables and pictures."""
