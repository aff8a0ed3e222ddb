"""Specs of hosted control planes and their tenant-configurable settings."""
