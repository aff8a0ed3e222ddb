"""Checks and tests of nodes, by hardware."""
