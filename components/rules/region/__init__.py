"""Rules about a region as a whole: names, capacity, lock files, governance, versions, and other regions."""
