"""The jacquard command: thin, no logic of its own."""
