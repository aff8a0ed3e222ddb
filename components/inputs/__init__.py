"""Component inputs of each slice, derived from the data and the lock files."""
