"""Specs of workload platforms."""
