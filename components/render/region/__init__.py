"""Renderers of the region itself: objects of the management cluster, NetworkPolicies, sources and releases."""
