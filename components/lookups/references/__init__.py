"""References of rendered objects and the creators of their targets: the table, and the search through objects."""
