"""What a change of rendered objects does to what runs, by a table in data that names the source of each row."""
