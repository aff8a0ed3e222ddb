"""Rules about node pools, templates and rollouts."""
