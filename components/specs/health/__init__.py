"""Specs of checks of nodes and of the actions on faults."""
