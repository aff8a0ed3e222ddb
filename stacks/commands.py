"""Commands in the resource graph that run Jacquard's modules with the Python of the project."""

from typing import TypedDict


class PythonCommand(TypedDict):
    """Inputs of a ``command:local:Command`` that runs Python modules."""

    create: str
    update: str
    delete: str
    dir: str


def python(*, create: str, delete: str) -> PythonCommand:
    """Return the inputs that run the modules ``create`` (also on update) and ``delete``, each with arguments.

    Paths are relative to the program's folder, in which providers run: absolute paths differ between machines and would
    appear as changes. With ``-P``, folders of the project never shadow Jacquard's packages.
    """
    run = ".venv/bin/python -P -m "
    return PythonCommand(create=run + create, update=run + create, delete=run + delete, dir="..")
