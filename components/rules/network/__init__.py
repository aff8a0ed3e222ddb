"""Rules about tenant networks, DPUs and fabrics."""
