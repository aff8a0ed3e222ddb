"""Output folders with an index of the files that a command wrote; later runs replace or remove only those files."""

import json
import os
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.specs.struct import Struct
from jacquard.cli.errors import ExitCode, Stop


class Outcome(Struct):
    """Changes of an output folder; paths are relative and sorted."""

    written: list[str]
    removed: list[str]
    unchanged: list[str]

    def to_json(self) -> dict[str, list[str]]:
        """Return the outcome as data."""
        return {"written": self.written, "removed": self.removed, "unchanged": self.unchanged}


class KeptFolder(Struct):
    """Output folders of one command."""

    index: str
    """File name of the index."""
    command: str
    """The command as typed, for messages."""

    def write(self, folder: Path, environment: str, texts: Mapping[str, str]) -> Outcome:
        """Make ``folder`` contain exactly the files ``texts``.

        Files are opened by name, because creating a Path for each of many thousand files takes as long as writing them.

        Raises:
            Stop: the folder contains files that this command did not write; nothing is changed.
        """
        before = self.known(folder, environment)
        contents = {path: text.encode() for path, text in texts.items()}
        foreign = sorted(path for path in texts.keys() - before if os.path.lexists(f"{folder}/{path}"))
        if foreign:
            msg = (
                f"{folder}: contains {', '.join(foreign)}, not written by jacquard; move them or choose another folder"
                " for --out"
            )
            raise Stop(msg, ExitCode.BAD_DATA)
        folder.mkdir(parents=True, exist_ok=True)
        # The index is written first: after an interruption it may list too many files, but never too few.
        self._write_index(folder, environment, sorted({*before, *texts}))
        for parent in {posixpath.dirname(path) for path in texts}:
            (folder / parent).mkdir(parents=True, exist_ok=True)
        written = [
            path for path in sorted(texts) if path not in before or not _has_content(f"{folder}/{path}", contents[path])
        ]
        for path in written:
            with open(f"{folder}/{path}", "wb") as file:  # noqa: PTH123
                file.write(contents[path])
        removed = sorted(before - texts.keys())
        for path in removed:
            _remove(folder, path)
        if removed:
            self._write_index(folder, environment, sorted(texts))
        return Outcome(written=written, removed=removed, unchanged=sorted(texts.keys() - set(written)))

    def known(self, folder: Path, environment: str) -> set[str]:
        """Return the files that the command wrote to ``folder`` before.

        Raises:
            Stop: the folder is not empty, and the command did not write it for ``environment``.
        """
        foreign = f"{folder}: is not empty and not written by '{self.command}'; name an empty or new folder for --out"
        found = index_of(folder, self.index, ("environment", "files"), foreign)
        if found is None:
            return set()
        owner, listed = found
        if owner != environment:
            msg = f"{folder}: contains environment '{owner}', not '{environment}'; choose another folder for --out"
            raise Stop(msg, ExitCode.BAD_DATA)
        return {path for path in listed if ".." not in Path(path).parts and not Path(path).is_absolute()}

    def _write_index(self, folder: Path, environment: str, names: list[str]) -> None:
        content = json.dumps({"environment": environment, "files": names}, indent=1)
        (folder / self.index).write_text(content + "\n", encoding="utf-8")


def index_of(folder: Path, index: str, keys: Sequence[str], foreign: str) -> tuple[Any, ...] | None:
    """Return the values of ``keys`` in the index of a folder; None for an empty or new folder.

    Raises:
        Stop: there is anything else; with the message ``foreign``.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    try:
        content = json.loads((folder / index).read_text(encoding="utf-8"))
        return tuple(content[key] for key in keys)
    except (OSError, ValueError, KeyError, TypeError):
        raise Stop(foreign, ExitCode.BAD_DATA) from None


def _has_content(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - see `KeptFolder.write`
            return file.read() == content
    except FileNotFoundError:
        return False


def _remove(folder: Path, path: str) -> None:
    (folder / path).unlink(missing_ok=True)
    for parent in (folder / path).parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
