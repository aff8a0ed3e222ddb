"""Effects of changed fields of rendered objects on running systems: a table in YAML with the source of each row."""
