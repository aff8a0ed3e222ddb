"""Writes the files of an upgrade: data files all or none, then the files around them."""

from collections.abc import Mapping
from pathlib import Path

from jacquard.machine import paths
from jacquard.machine.edits import Edit
from jacquard.machine.files import replace_text


def write(edit: Edit, texts: Mapping[Path, str | None]) -> None:
    """Write each text to its path, and remove files without a text."""
    written = {path: text for path, text in texts.items() if text is not None}
    inside = {path: text for path, text in written.items() if path.is_relative_to(paths.environments())}
    edit.write(inside)
    for path, text in written.items():
        if path not in inside:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, text)
    for path in texts.keys() - written.keys():
        path.unlink()
