"""Pure renderers from specs to manifests: total, ordered and deterministic."""
