"""Results of papers that are reproduced and tested here, and that no command uses."""
