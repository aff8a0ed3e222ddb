"""Objects about all regions together."""
