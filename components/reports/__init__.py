"""Answers to `jacquard show`."""
