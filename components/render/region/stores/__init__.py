"""Certificates and backups of the stores of metrics and logs."""
