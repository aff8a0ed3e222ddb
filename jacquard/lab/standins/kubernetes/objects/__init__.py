"""Kubernetes objects as plain data: names, order, rules of replacement, spelling."""
