"""Reads the current state of a region from its clusters and compares it with the data. Writes and prints nothing."""
