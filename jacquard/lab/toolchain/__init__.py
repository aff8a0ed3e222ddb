"""Set-up of a machine: required tools, ``.venv``, pinned binaries and plug-ins. Uses the standard library only."""
