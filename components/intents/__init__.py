"""Intents of nodes, DPUs and charts: images, pins, and differences between pinned values and the data."""
