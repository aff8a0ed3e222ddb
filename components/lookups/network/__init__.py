"""Queries about the network of one environment: DPUs, fabrics, rails, peerings and names."""
