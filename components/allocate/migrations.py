"""Migrations of data files from older formats, by file kind and version. All files still have their first format."""

from components.specs.reading.migrations import Migrations

MIGRATIONS: Migrations = {}
