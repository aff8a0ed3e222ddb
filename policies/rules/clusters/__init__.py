"""Policies about clusters of tenants: add-ons, VMs, control planes and quotas."""
