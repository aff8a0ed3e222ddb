"""Rules about hosted control planes and what tenants set in them."""
