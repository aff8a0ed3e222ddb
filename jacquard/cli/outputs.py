"""Output files and folders named by options; other files are never overwritten."""

from pathlib import Path

from components.specs.reading.loader import REGION
from components.specs.secret_text import masked_forms
from jacquard.cli.errors import ExitCode, Stop
from jacquard.machine import paths
from jacquard.machine.files import replace_text

_MARKED_WITHIN = 500
"""Number of leading characters of a file that are searched for the mark."""


def write(option: str, path: Path, text: str, mark: str | None = None) -> None:
    """Write ``text``, with secrets masked, to ``path``, the value of ``option``.

    An existing file is replaced only if it starts with ``mark``, which formats without comments cannot contain.

    Raises:
        Stop: another file exists there.
    """
    text = masked_forms(text)
    refuse_data(option, path)
    if path.exists() and not path.is_file():  # a pipe or terminal is not read, because that may block forever
        msg = f"{option} {path}: is {'a folder; name a file in it' if path.is_dir() else 'not a file; name a file'}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if foreign(path, mark) and path.read_bytes() != text.encode():
        msg = f"{option} {path}: exists and was not written by this command; remove it first, or name another file"
        raise Stop(msg, ExitCode.BAD_DATA)
    replace_text(path, text)


def refuse_data(option: str, path: Path) -> None:
    """Refuse a path inside the data of environments.

    Raises:
        Stop: the path is inside these folders.
    """
    place = path.resolve()
    folders = {paths.environments().resolve(), paths.ROOT / "environments"}
    for folder in (place, *place.parents):
        if folder in folders or (folder / REGION).exists():
            msg = f"{option} {path}: is inside {folder}, which contains the data of environments; name a path outside"
            raise Stop(msg, ExitCode.BAD_DATA)


def foreign(path: Path, mark: str | None) -> bool:
    """Return whether ``path`` exists without the ``mark`` of Jacquard."""
    if not path.exists():
        return False
    if not path.is_file():
        return True
    with path.open("rb") as file:
        start = file.read(4 * _MARKED_WITHIN)
    return bool(start) and (mark is None or mark not in start.decode(errors="replace")[:_MARKED_WITHIN])
