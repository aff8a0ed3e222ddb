"""The verbs of the ``jacquard`` command, one module each, named and loaded by `cli.command`."""
