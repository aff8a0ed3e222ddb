"""The jacquard command line: arguments, output and exit codes, without logic of its own."""
