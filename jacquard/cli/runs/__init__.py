"""Runs of the engine by commands: one stack or several at once, and what is checked before an apply."""
