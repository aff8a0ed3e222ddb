"""Reading and writing of data files: strict YAML and CSV, problems with positions, schemas, lock files."""
