"""Specs of the region itself: management cluster, policies, versions, releases."""
