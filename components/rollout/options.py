"""Options of ``jacquard promote`` that messages name; apart from `promotion`, which takes time to load."""

ALL = "--all"
"""Option of ``jacquard promote`` that promotes all groups together."""
NEWEST_TEMPLATES = "--newest-templates"
"""Option of ``jacquard promote`` that moves groups to the newest template revision, even if nothing else differs."""
