"""Monitoring of a local region: real Prometheus and Alertmanager, simulated exporters, receivers of notices."""
