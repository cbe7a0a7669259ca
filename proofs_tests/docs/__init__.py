"""The book is alive: its tables, links and names are held against code and tests."""
