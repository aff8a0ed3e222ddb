"""Queries about one environment that several layers share."""
