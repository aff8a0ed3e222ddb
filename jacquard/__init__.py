"""Jacquard: a GPU cloud region as code."""
