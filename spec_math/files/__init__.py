"""Writing files whole or not at all, and loading what a user names MODULE:NAME; imports nothing of the library."""
