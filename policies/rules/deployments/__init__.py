"""Policies about deployments: providers, freezes and waivers."""
