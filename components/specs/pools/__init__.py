"""Specs of node pools, templates and rollouts."""
