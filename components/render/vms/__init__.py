"""Renderers of virtual machines."""
