"""Posts what a run found to the pull request it ran for: one comment, which later runs write over."""
