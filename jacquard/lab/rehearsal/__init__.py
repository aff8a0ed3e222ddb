"""The local region: real API servers and the real Cluster API controller, simulated hardware."""
