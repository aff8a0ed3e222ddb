"""Renderers of hosted control planes and of the tenants' settings for control planes."""
