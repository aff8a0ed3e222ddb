"""Files and folders that a person names for an answer: written only where nothing else is lost."""

from __future__ import annotations

from pathlib import Path

from components.specs.reading.loader import REGION
from jacquard.cli.errors import ExitCode, Stop
from jacquard.machine import paths
from jacquard.machine.files import replace_text

_MARKED_WITHIN = 500
"""Characters in which a file says who wrote it."""


def write(option: str, path: Path, text: str, mark: str | None = None) -> None:
    """Write ``text`` to ``path``, which ``option`` named.

    What is there is written anew only if it begins with ``mark``; formats without comments have no room for one.

    Raises:
        Stop: there is something else, which would be lost.
    """
    refuse_data(option, path)
    if path.exists() and not path.is_file():  # a pipe or a terminal is not even looked into: that may wait for ever
        msg = f"{option} {path}: is {'a folder; name a file in it' if path.is_dir() else 'no file; name one'}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if foreign(path, mark) and path.read_bytes() != text.encode():
        msg = (
            f"{option} {path}: is there already, and nothing says that this command wrote it; remove it first, or name"
            " another file"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    replace_text(path, text)


def refuse_data(option: str, path: Path) -> None:
    """Refuse a path among the data of environments.

    Raises:
        Stop: it is one.
    """
    place = path.resolve()
    folders = {paths.environments().resolve(), paths.ROOT / "environments"}
    for folder in (place, *place.parents):
        if folder in folders or (folder / REGION).exists():
            msg = f"{option} {path}: lies in {folder}, which holds the data of environments; name a place outside"
            raise Stop(msg, ExitCode.BAD_DATA)


def foreign(path: Path, mark: str | None) -> bool:
    """Tell whether ``path`` holds something that does not say by ``mark`` that a command of ours wrote it."""
    if not path.exists():
        return False
    if not path.is_file():
        return True
    with path.open("rb") as file:
        start = file.read(4 * _MARKED_WITHIN)
    return bool(start) and (mark is None or mark not in start.decode(errors="replace")[:_MARKED_WITHIN])
