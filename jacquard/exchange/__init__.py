"""Host lists in the formats of other systems: read, convert to inventory rows, merge, and write."""
