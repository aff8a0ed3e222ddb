"""What a region is like now, read from its clusters and compared with its data. Writes nothing, prints nothing."""
