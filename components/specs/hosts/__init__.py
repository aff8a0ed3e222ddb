"""Specs of hosts, BMCs and bare-metal controllers."""
