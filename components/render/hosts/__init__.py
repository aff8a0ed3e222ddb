"""Renderers of hosts, BMCs and bare-metal controllers."""
