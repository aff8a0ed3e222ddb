"""Builds the objects of each slice of an environment."""
