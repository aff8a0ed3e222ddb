"""Logs of all clusters of a region: their store, and access to it."""
