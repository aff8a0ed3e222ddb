"""Jacquard's Pulumi provider for object sets: many Kubernetes objects as one resource."""
