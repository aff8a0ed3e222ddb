"""Simulated storage drivers on nodes: registration with kubelets, and volumes of pods."""
