"""Reports about tenant networks."""
