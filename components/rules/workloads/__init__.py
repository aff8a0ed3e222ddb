"""Rules about workload platforms."""
