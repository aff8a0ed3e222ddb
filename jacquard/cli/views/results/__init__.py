"""Results of rules in the formats of code scanning, CI systems and terminals, the same for every command."""
