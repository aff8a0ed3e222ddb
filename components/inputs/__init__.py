"""Inputs of each component, by slice."""
