"""Jacquard's components as a Pulumi package, for programs in TypeScript, Go, YAML and other languages."""
