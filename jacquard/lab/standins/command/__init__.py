"""Stand-in for the vendor's ``pulumi-resource-command`` v1.2.1: runs a program's local commands."""
