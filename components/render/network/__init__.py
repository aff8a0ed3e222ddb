"""Renderers of tenant networks, DPUs and fabrics."""
