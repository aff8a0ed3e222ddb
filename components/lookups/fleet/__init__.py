"""Lookups about all regions together."""
