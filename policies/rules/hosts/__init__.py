"""Policies about hosts, their BMCs and the templates of machines."""
