"""Files written whole, and values named by module and name."""
