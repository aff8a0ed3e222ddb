"""Nodes of a region as its clusters report them: properties, faults, results of tests, and hosts given up."""
