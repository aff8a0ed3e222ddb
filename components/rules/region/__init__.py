"""Rules about the region itself: management cluster, policies, versions, releases."""
