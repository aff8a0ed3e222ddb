"""Edits of data files: one process at a time, based on the current files, and written completely or not at all.

All files of an edit are first written into a hidden folder. One rename turns this folder into the journal: from then on
the edit is complete, and each file is moved from the journal to its place. A process that ends in between leaves the
journal, and the next command that reads or edits the data finishes the edit.
"""

import errno
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from jacquard.machine.errors import ToolchainError
from jacquard.machine.files import mode_for
from jacquard.machine.lock import locked

JOURNAL = ".jacquard-edit"
"""Folder with the files of an edit that are not in their places yet, below the folder of the data."""
LOCK = ".jacquard-lock"
"""File of the lock below the folder of the data; it exists only during an edit."""
WAIT_SECONDS = 300.0
"""Maximum waiting time for another edit."""
_State: TypeAlias = dict[Path, tuple[int, int, int]]


class Edit:
    """Exclusive edit of data files; use `editing`.

    Args:
        folder: folder of the data.
        parts: names of the folders in it that the edit depends on.
        refusal: reason why the folder cannot be locked and therefore not written; None if it is locked.
    """

    def __init__(self, folder: Path, parts: Sequence[str], refusal: OSError | None = None) -> None:
        self._folder, self._parts, self._refusal = folder, parts, refusal
        self._before = self._state()

    def write(self, texts: Mapping[Path, str]) -> list[Path]:
        """Write ``texts`` to their paths below the folder, all or none, and return the paths that change.

        Raises:
            ToolchainError: a file that the edit depends on was changed by another program.
            OSError: a file cannot be written; the error names this file, and all files keep their content.
        """
        contents = {path: text.encode() for path, text in texts.items()}
        changing = {path: content for path, content in contents.items() if _differs(path, content)}
        if not changing:
            return []
        if self._refusal:
            raise OSError(self._refusal.errno, self._refusal.strerror, str(next(iter(changing))))
        self._require_unchanged()
        _stage(self._folder, changing)
        _finish(self._folder, undo=True)
        self._before = self._state()
        return list(changing)

    def _require_unchanged(self) -> None:
        now = self._state()
        changed = sorted(path for path in {*now, *self._before} if now.get(path) != self._before.get(path))
        if changed:
            lines = [
                f"{path.relative_to(self._folder.parent)}: was changed while this command ran; nothing was written, run"
                " the command again"
                for path in changed
            ]
            raise ToolchainError("\n".join(lines))

    def _state(self) -> _State:
        """Return modification time, size and inode of each file that the edit depends on."""
        state: _State = {}
        for path in (path for part in self._parts for path in (self._folder / part).rglob("[!.]*")):
            with suppress(FileNotFoundError):
                at = path.stat()
                state |= {path: (at.st_mtime_ns, at.st_size, at.st_ino)} if stat.S_ISREG(at.st_mode) else {}
        return state


@contextmanager
def editing(
    folder: Path, parts: Sequence[str], verb: str, waiting: Callable[[str], None] | None = None
) -> Iterator[Edit]:
    """Lock the data in ``folder`` for an edit; read the data inside the block.

    A folder that cannot be written is not locked: the block can still read, and only a change of a file is an error.

    Args:
        folder: folder of the data.
        parts: names of the folders in it that the edit depends on.
        verb: name of the command, for processes that wait.
        waiting: called once with the command that has the lock, before waiting for it.

    Raises:
        ToolchainError: another edit did not end in time.
        OSError: an interrupted edit cannot be finished.
    """
    with ExitStack() as stack:
        refusal = None
        try:
            if not folder.is_dir():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
            stack.enter_context(_locked(folder, verb, waiting))
        except OSError as error:
            refusal = error
        else:
            _finish(folder)
        yield Edit(folder, parts, refusal)


def recover(folder: Path) -> None:
    """Finish an edit of the data in ``folder`` whose process ended before all files were in their places.

    Raises:
        ToolchainError: another edit did not end in time.
        OSError: a file cannot be written.
    """
    if (folder / JOURNAL).exists():
        with _locked(folder, "recovery"):
            _finish(folder)


@contextmanager
def _locked(folder: Path, verb: str, waiting: Callable[[str], None] | None = None) -> Iterator[None]:
    path = folder / LOCK

    def refusal(holder: str) -> ToolchainError:
        msg = f"{folder}: locked by {holder or 'another command'}; wait for its end, then run this again"
        return ToolchainError(msg)

    owner = f"jacquard {verb}, process {os.getpid()} on {socket.gethostname()}"
    with locked(path, owner, waiting=waiting, refusal=refusal, wait_seconds=WAIT_SECONDS):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # Waiting processes notice that the file is another one.


def _differs(path: Path, content: bytes) -> bool:
    return not path.exists() or path.read_bytes() != content


def _stage(folder: Path, contents: Mapping[Path, bytes]) -> None:
    """Write the journal.

    Raises:
        OSError: no journal was written; the error names the file that cannot be changed.
    """
    for abandoned in folder.glob(f"{JOURNAL}.*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    path = next(iter(contents))
    temporary = None
    try:
        temporary = Path(tempfile.mkdtemp(dir=folder, prefix=f"{JOURNAL}."))
        for path, content in contents.items():
            target = path.resolve()
            copy = temporary / target.relative_to(folder.resolve())
            copy.parent.mkdir(parents=True, exist_ok=True)
            _require_writable(next(parent for parent in target.parents if parent.exists()))
            with copy.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            copy.chmod(mode_for(target))
        temporary.rename(folder / JOURNAL)
        _synchronize(folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _finish(folder: Path, *, undo: bool = False) -> None:
    """Move each file of the journal to its place; without a journal, do nothing.

    Args:
        folder: folder of the data.
        undo: remove the journal if the first file cannot be moved; otherwise it remains for the next command.

    Raises:
        OSError: a file cannot be replaced; the error names the file.
    """
    journal = folder / JOURNAL
    for copy in sorted(path for path in journal.rglob("*") if path.is_file()):
        target = folder / copy.relative_to(journal)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            copy.replace(target)
        except OSError as error:
            if undo:
                shutil.rmtree(journal, ignore_errors=True)
            raise OSError(error.errno, error.strerror, str(target)) from None
        undo = False
    if journal.exists():
        _synchronize(folder)
        shutil.rmtree(journal)


def _require_writable(folder: Path) -> None:
    """Pass if files of ``folder`` can be replaced, and files and folders be created in it.

    Raises:
        PermissionError: they cannot.
    """
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _synchronize(folder: Path) -> None:
    """Write the entries of ``folder`` to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
