"""Inputs of workload platforms."""
