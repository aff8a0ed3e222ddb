"""Output of the commands: tables and texts, and the same results as data."""
