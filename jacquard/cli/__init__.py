"""The jacquard command line: arguments, output and exit codes. The other packages contain the logic."""
