"""Readers and writers of data files: strict YAML and CSV, problems with positions, schemas, lock files."""
