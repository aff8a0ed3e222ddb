"""Simulated controllers that join several objects, which kwok stages cannot do."""
