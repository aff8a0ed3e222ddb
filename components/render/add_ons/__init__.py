"""Renderers of add-ons of tenant clusters."""
