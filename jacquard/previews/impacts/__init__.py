"""Impact of a change on nodes, hosts, tenants and other parts of a region."""
