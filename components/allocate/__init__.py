"""Allocation of everything that users do not name: numbers, prefixes, addresses, hosts."""
