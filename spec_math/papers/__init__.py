"""Results of papers that are reproduced and tested, and that no command uses."""
