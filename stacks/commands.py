"""Commands in the graph: modules of ours, run by the Python of the project."""

from __future__ import annotations

from typing import TypedDict


class PythonCommand(TypedDict):
    """Inputs of a ``command:local:Command`` that runs modules."""

    create: str
    update: str
    delete: str
    dir: str


def python(*, create: str, delete: str) -> PythonCommand:
    """Return the inputs that run the modules ``create`` (also on update) and ``delete``, given with their arguments.

    Paths are relative to the program's folder, where providers run: an absolute one would differ from machine to
    machine and show as a change. Folders of the project never stand in for packages of ours (``-P``).
    """
    run = ".venv/bin/python -P -m "
    return PythonCommand(create=run + create, update=run + create, delete=run + delete, dir="..")
