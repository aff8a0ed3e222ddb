"""Migrations of data files from older formats, by kind and old version. All kinds still have their first format."""

from __future__ import annotations

from components.specs.reading.migrations import Migrations

MIGRATIONS: Migrations = {}
