"""Renderers of workload platforms."""
