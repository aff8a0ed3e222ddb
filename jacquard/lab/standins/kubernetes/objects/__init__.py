"""Kubernetes objects as plain data: names, order, replacement rules, normalization."""
