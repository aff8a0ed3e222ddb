"""Simulated controllers whose updates depend on several objects, which kwok stages cannot express."""
