"""Versions of other projects that the library supports, as tables with a source for each row."""
