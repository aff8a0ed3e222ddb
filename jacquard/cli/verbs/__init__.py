"""Verbs of the ``jacquard`` command, one module each; `jacquard.cli.command` loads them."""
