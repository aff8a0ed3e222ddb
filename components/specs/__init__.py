"""Models of the data files below ``environments/``: frozen, closed to unknown keys, bounded."""
