"""The Pulumi program: stack name, environment and slices, components."""
