"""Intents of nodes, DPUs and charts: selection, pins, and differences between pins and the data."""
