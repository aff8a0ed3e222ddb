"""Commands in the graph: Jacquard's modules, run by the Python of the project."""

from __future__ import annotations

from typing import TypedDict


class PythonCommand(TypedDict):
    """Inputs of a ``command:local:Command`` that runs modules."""

    create: str
    update: str
    delete: str
    dir: str


def python(*, create: str, delete: str) -> PythonCommand:
    """Return the inputs that run the modules ``create`` (also on update) and ``delete``, including their arguments.

    Paths are relative to the program's folder, where providers run: absolute paths would differ between machines and
    show as changes. Folders of the project never shadow Jacquard's packages (``-P``).
    """
    run = ".venv/bin/python -P -m "
    return PythonCommand(create=run + create, update=run + create, delete=run + delete, dir="..")
