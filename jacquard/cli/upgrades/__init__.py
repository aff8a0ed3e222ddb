"""Upgrades of data and files to the installed version."""
