"""Models of the data about all regions together."""
