"""Simulated controllers of networks, DPUs and DNS."""
