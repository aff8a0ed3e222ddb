"""Simulated controllers of Helm releases and Kustomizations."""
