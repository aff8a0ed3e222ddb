"""Models of the data under ``environments/``: frozen, closed and bounded."""
