"""Pure renderers: specs in, manifests out; total, ordered and deterministic."""
