"""The Pulumi program: maps stack names to environments and slices, and registers components."""
