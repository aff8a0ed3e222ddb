"""Reads the text of data files, and refuses what no person wrote on purpose."""

from __future__ import annotations

from pathlib import Path

from components.specs.problems import Problem

MAX_BYTES = 5_000_000
"""A data file of 60,000 hosts stays below this."""

_UNWANTED = (
    ("\0", "a NUL character", "remove it"),
    ("\t", "a tab", "write spaces"),
    ("\r", "a carriage return", "save the file with plain line ends (LF)"),
)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path, file: str, root: Path) -> tuple[str, Problem | None]:
    """Return the text of ``path``, or an empty text and why it is refused.

    ``file`` is its name in the problem. ``root`` is the folder it must lie in, also behind symbolic links; a file that
    is too large, binary or not clean UTF-8 is refused unread or unparsed.
    """
    remedy = _misplaced(path, root)
    if remedy:
        return "", Problem(file, 0, "", remedy)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            text = f"has {size / 1e6:.1f} MB, the limit is {MAX_BYTES / 1e6:.0f} MB; split the file"
            return "", Problem(file, 0, "", text)
        return _decoded(path.read_bytes(), file)
    except OSError as error:
        return "", Problem(file, 0, "", f"cannot be read: {(error.strerror or str(error)).lower()}; correct its mode")


def _misplaced(path: Path, root: Path) -> str | None:
    try:
        real = path.resolve(strict=True)
    except FileNotFoundError:
        return "is a symbolic link to nothing; remove it" if path.is_symlink() else "does not exist; write it"
    except (OSError, RuntimeError):
        return "is a symbolic link that leads back to itself; replace it by the file"
    if not real.is_relative_to(root.resolve()):
        return f"leads out of {root.name}/; replace the symbolic link by the file itself"
    return None if real.is_file() else "is not a file; replace it by one"


def _decoded(raw: bytes, file: str) -> tuple[str, Problem | None]:
    if raw.startswith(_BYTE_ORDER_MARKS):
        return "", Problem(file, 1, "", "starts with a byte order mark; save the file as UTF-8 without one")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return "", Problem(file, line, "", f"is not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8")
    for character, name, remedy in _UNWANTED:
        at = text.find(character)
        if at >= 0:
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            return "", Problem(file, line, "", f"has {name} in column {column}; {remedy}")
    return text, None
