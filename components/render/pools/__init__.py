"""Renderers of node pools, node templates and rollouts."""
