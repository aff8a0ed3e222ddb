"""What users do not name: numbers, prefixes, addresses, hosts."""
