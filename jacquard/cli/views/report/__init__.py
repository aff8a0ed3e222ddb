"""The report of a change: one HTML file that needs nothing else, with the region as a map and its rolls in time."""
