"""Compile the bytecode of all modules that the project runs, with the interpreter of ``.venv``.

Each command starts several short processes. A process that has to compile its imports takes twice the processor time.
Python stores bytecode itself, but not if ``PYTHONDONTWRITEBYTECODE`` is set or another user owns the clone, as in many
CI images.
"""

import compileall
import contextlib
import importlib

from jacquard.machine import paths

_ENTRIES = (
    "jacquard.cli.command",
    "jacquard.cli.verbs.preview",
    "jacquard.cli.verbs.up",
    "policies.pack.analyzer",
    "jacquard.providers.objectset.server",
    "jacquard.lab.standins.command.provider",
    "jacquard.lab.standins.kubernetes.provider",
    "jacquard.lab.standins.language_host.server",
    "pulumi.policy",
    "jacquard.lab.rehearsal.__main__",
    "stacks.program",
)
"""Modules that the commands and the engine start. These modules import a tenth of the installed packages; only this
part is compiled."""


def main() -> None:
    """Compile the packages of this project and all modules that their processes import."""
    for package in paths.ROOT.glob("*/__init__.py"):
        compileall.compile_dir(package.parent, quiet=2)
    for entry in _ENTRIES:
        with contextlib.suppress(Exception):  # a process that imports the broken module reports the error
            importlib.import_module(entry)


if __name__ == "__main__":
    main()
