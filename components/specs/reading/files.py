"""Reads the text of data files, and rejects content that is not plain text."""

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from components.specs.reading.problems import Problem

MAX_BYTES = 5_000_000
"""Maximum size of a data file in bytes; the files of a region of 60,000 hosts stay below it."""
MAX_LINES = 200_000
"""Maximum number of lines; a lock file, which cannot be split, has two for each host."""
MAX_LINE = 4_000
"""Maximum number of characters in one line; the line of a host has 200."""

_UNWANTED = {
    "\0": ("a NUL character", "remove it"),
    "\t": ("a tab", "write spaces, or a comma between values of a row"),
    "\r": ("a carriage return", "save the file with plain line ends (LF)"),
}
_CONFLICT = re.compile(r"^(?:<<<<<<< |=======$|>>>>>>> |\|{7}(?: |$))", re.MULTILINE)
"""Conflict markers of git."""
TAKE_ONE_SIDE = "take either side of the whole file, git checkout --ours or --theirs, and run jacquard allocate"
"""Remedy for a lock file with merge conflicts."""
_CIRCULAR = "is a circular symbolic link"
_BINARY = {
    b"PK\x03\x04": "a ZIP archive, such as a workbook of a spreadsheet",
    b"\xd0\xcf\x11\xe0": "a workbook or document of an office program",
    b"\x1f\x8b": "compressed with gzip",
    b"%PDF": "a PDF document",
}
"""Formats of binary files by their first bytes."""
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path, file: str, root: Path) -> tuple[str, Problem | None]:
    """Return the text of ``path``, or an empty text and the problem.

    ``file`` is the name of the file in the problem. The file must be inside the folder ``root``, also after symbolic
    links are resolved. Files that are too large, binary or not clean UTF-8 are rejected before they are read or parsed.
    """
    raw, problem = read_bytes(path, file, root)
    return ("", problem) if problem else decoded(raw, file)


def read_bytes(path: Path, file: str, root: Path) -> tuple[bytes, Problem | None]:
    """Return the content of ``path``, or empty bytes and the problem that prevented reading."""
    remedy = _path_problem(path, root)
    if remedy:
        return b"", Problem(file, 0, "", remedy)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            text = f"has {size / 1e6:.1f} MB, the limit is {MAX_BYTES / 1e6:.0f} MB; split the file"
            return b"", Problem(file, 0, "", text)
        return path.read_bytes(), None
    except OSError as error:
        return b"", Problem(file, 0, "", _refused(error))


def unreadable(folder: Path) -> str:
    """Return the reason why the files of ``folder`` cannot be found; empty if they can, or if it does not exist."""
    try:
        os.listdir(folder)  # noqa: PTH208 - Path.glob ignores missing permissions
        os.stat(os.path.join(folder, os.curdir))  # noqa: PTH116, PTH118 - fails if the files in it are not accessible
    except FileNotFoundError:
        return "is a broken symbolic link; restore the folder (git checkout)" if folder.is_symlink() else ""
    except NotADirectoryError:
        return "is a file but must be a folder; restore the folder (git checkout)"
    except OSError as error:
        return f"{_CIRCULAR}; restore the folder (git checkout)" if error.errno == errno.ELOOP else _refused(error)
    return ""


def _refused(error: OSError) -> str:
    return f"cannot be read: {(error.strerror or str(error)).lower()}; correct its file mode"


def _path_problem(path: Path, root: Path) -> str | None:
    if _is_plain(path, root):
        return None
    try:
        real = path.resolve(strict=True)
    except FileNotFoundError:
        return (
            "is a broken symbolic link; replace it with the file" if path.is_symlink() else "does not exist; create it"
        )
    except RuntimeError:  # Python 3.13 and later raise an OSError instead.
        return f"{_CIRCULAR}; replace it with the file"
    except OSError as error:
        return f"{_CIRCULAR}; replace it with the file" if error.errno == errno.ELOOP else _refused(error)
    if not real.is_relative_to(root.resolve()):
        return f"is a symbolic link to a file outside {root.name}/; replace it with the file"
    return None if real.is_file() else "is not a file; replace it with a file"


def _is_plain(path: Path, root: Path) -> bool:
    """Return whether ``path`` is a file below ``root`` without symbolic links between them, as almost all files are.

    This takes a fifth of the time that it takes to resolve both paths.
    """
    text, start = str(path), f"{root}{os.sep}"
    if not (text.startswith(start) and os.path.normpath(text).startswith(start)):
        return False
    place, kind = str(root), 0
    try:
        for name in path.parts[len(root.parts) :]:
            place = f"{place}{os.sep}{name}"
            kind = os.lstat(place).st_mode
            if stat.S_ISLNK(kind):
                return False
    except OSError:
        return False
    return stat.S_ISREG(kind)


def decoded(raw: bytes, file: str) -> tuple[str, Problem | None]:
    """Return the text of ``raw``, or an empty text and the problem if it is not plain text."""
    for start, binary in _BINARY.items():
        if raw.startswith(start):
            return "", Problem(file, 0, "", f"is {binary}; save its content as a text file in UTF-8")
    if raw.startswith(_BYTE_ORDER_MARKS):
        return "", Problem(file, 1, "", "starts with a byte order mark; save the file as UTF-8 without one")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        return "", Problem(file, number, "", f"is not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8")
    count = text.count("\n")
    if count > MAX_LINES:
        return "", Problem(file, 0, "", f"has {count:,} lines, the limit is {MAX_LINES:,}; split the file")
    lines = text.split("\n")
    if max(map(len, lines)) > MAX_LINE or not all(map(str.isprintable, lines)):
        return "", _line_problem(file, lines)
    conflict = _CONFLICT.search(text)
    return ("", _unmerged(file, text.count("\n", 0, conflict.start()) + 1)) if conflict else (text, None)


def _line_problem(file: str, lines: Iterable[str]) -> Problem | None:
    """Return the problem of the first line that is too long, or that contains an invisible or control character."""
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            remedy = f"has {len(line):,} characters in one line, the limit is {MAX_LINE:,}; break the line"
            return Problem(file, number, "", remedy)
        if not line.isprintable():
            return Problem(file, number, "", _character_problem(line))
    return None


def _unmerged(file: str, line: int) -> Problem:
    remedy = TAKE_ONE_SIDE if file.endswith(".lock.yaml") else "resolve it and remove the conflict markers"
    return Problem(file, line, "", f"has a merge conflict; {remedy}")


def _character_problem(line: str) -> str:
    """Return the problem and remedy for the first invisible or control character of ``line``."""
    column, character = next((at, c) for at, c in enumerate(line, start=1) if not c.isprintable())
    name = unicodedata.name(character, "a control character").lower()
    remedy = "write a plain space" if unicodedata.category(character) == "Zs" else "remove it"
    what, remedy = _UNWANTED.get(character, (f"the invisible character U+{ord(character):04X} ({name})", remedy))
    return f"has {what} in column {column}; {remedy}"
