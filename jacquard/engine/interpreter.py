"""Check of the Python interpreter with which the engine runs the program."""

from jacquard.engine.errors import EngineError
from jacquard.machine import paths


def require_python() -> None:
    """Check that the Python interpreter exists that ``Pulumi.yaml`` and commands in the graph use to run the program.

    Raises:
        EngineError: a user's repository has no such interpreter.
    """
    folder = paths.own()
    if folder and not (folder / ".venv" / "bin" / "python").exists():
        msg = (
            f"{folder / '.venv'}: has no bin/python, with which {paths.PROJECT_FILE} runs the program; create it in "
            f"{folder}: python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"
        )
        raise EngineError(msg)
