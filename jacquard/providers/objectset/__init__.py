"""Jacquard's own Pulumi provider: many Kubernetes objects as one resource."""
