"""What studies find."""
