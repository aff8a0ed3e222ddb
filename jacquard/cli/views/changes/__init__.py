"""Views of changes: previews, impact, destructive changes, drift."""
