"""Pure functions that render specs as manifests. The output is complete, ordered and deterministic."""
