"""Programs that pods of a region run, with a plain Python and its standard library: rendered as they are reviewed."""
