"""Campaigns: one promotion over several regions, in order, with soak times and stop rules."""
