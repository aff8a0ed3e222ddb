"""References between rendered objects: the table of references, and the search for missing targets."""
