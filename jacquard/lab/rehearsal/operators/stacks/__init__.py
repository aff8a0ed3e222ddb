"""Simulated Pulumi Kubernetes Operator: order and retries of Stacks, whose updates run as local processes."""
