"""Reports of hosts out of service: their states, their release, and how often hosts fail."""
