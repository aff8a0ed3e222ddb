"""The verbs of the ``jacquard`` command, one module each, named and loaded by `jacquard.cli.command`."""
