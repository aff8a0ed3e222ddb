"""What rendered objects refer to, and who makes it: the table, and the walk over objects that reads it."""
