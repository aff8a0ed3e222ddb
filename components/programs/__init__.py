"""Programs that pods of a region run: Python with the standard library only, rendered from the reviewed source."""
