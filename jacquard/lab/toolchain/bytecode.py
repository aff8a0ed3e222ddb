"""Compile bytecode of everything the project runs, with the interpreter of ``.venv``.

Each command is several short processes, and one that has to compile what it imports takes twice the processor time.
Python keeps bytecode by itself, but not where ``PYTHONDONTWRITEBYTECODE`` is set or the clone belongs to somebody else,
as in many images for CI.
"""

from __future__ import annotations

import compileall
import contextlib
import importlib

from jacquard.machine import paths

_ENTRIES = (
    "jacquard.cli.command",
    "jacquard.cli.verbs.preview",
    "jacquard.cli.verbs.up",
    "policies.analyzer",
    "jacquard.providers.objectset.server",
    "jacquard.lab.standins.command.provider",
    "jacquard.lab.standins.kubernetes.provider",
    "jacquard.lab.standins.language_host.server",
    "pulumi.policy",
    "jacquard.lab.rehearsal.__main__",
    "stacks.program",
)
"""What the commands and the engine start. Of what is installed only a tenth is imported, and that alone is compiled."""


def main() -> None:
    """Compile this project's packages, and whatever else their processes import."""
    for package in paths.ROOT.glob("*/__init__.py"):
        compileall.compile_dir(package.parent, quiet=2)
    for entry in _ENTRIES:
        with contextlib.suppress(Exception):  # what is wrong with a module is told by whoever needs it
            importlib.import_module(entry)


if __name__ == "__main__":
    main()
