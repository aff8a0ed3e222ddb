"""Report of a change: one self-contained HTML file with a map of the region and a timeline of rollouts."""
