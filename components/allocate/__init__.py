"""Allocation of resources that users do not name: numbers, prefixes, addresses and hosts."""
