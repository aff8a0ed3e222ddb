"""Specs of tenant networks, DPUs and fabrics."""
