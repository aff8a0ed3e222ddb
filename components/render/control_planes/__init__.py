"""Renderers of hosted control planes and what tenants set in them."""
