"""Metrics of the controllers of the management cluster, and alerts about them."""
