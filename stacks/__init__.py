"""The Pulumi program: stack names, environments and slices, components."""
