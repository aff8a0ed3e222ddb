"""Paths, settings, files and locks of the machine that runs a command. Standard library only."""
