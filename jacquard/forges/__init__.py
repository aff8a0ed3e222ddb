"""Posts the report of a run to its pull request, as a single comment that later runs update."""
