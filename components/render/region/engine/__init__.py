"""Objects by which the Pulumi Kubernetes Operator applies the slices of a region."""
