"""Reports about all regions together."""
