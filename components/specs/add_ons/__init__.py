"""Specs of add-ons of tenant clusters."""
