"""Specs of virtual machines."""
