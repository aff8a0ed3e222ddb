"""Comparison of results with those that are known: of an earlier commit, or in a baseline."""
