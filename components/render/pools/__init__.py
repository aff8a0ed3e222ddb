"""Renderers of node pools, templates and rollouts."""
