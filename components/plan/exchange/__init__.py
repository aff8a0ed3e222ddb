"""Inventory in the formats of other systems: read into records, mapped to hosts, merged, and written."""
