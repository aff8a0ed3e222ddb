"""What verbs show: results as tables and texts for people, and as data for programs."""
