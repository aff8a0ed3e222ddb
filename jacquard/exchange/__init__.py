"""Hosts in the formats of other systems: read into records, mapped to an inventory, merged, and written."""
