"""Rules between regions, and about the fleet of all regions."""
