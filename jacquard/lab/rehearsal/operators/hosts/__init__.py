"""Simulated controllers of hosts and nodes."""
