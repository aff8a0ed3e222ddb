"""Simulated image pulls of kubelets and containerd."""
