"""Simulated controllers of virtual machines and volumes."""
