"""Files of one stack in a file backend: room for them, rests of unfinished writes, and copies of the state.

The engine writes each file to ``NAME.HEX.tmp`` beside it and renames it. On a full disk, this is not safe
(gocloud.dev:blob/fileblob/fileblob.go and blob.go; pulumi:pkg/backend/diy/lock.go and state.go):

- a lock that was not written leaves an empty ``.tmp`` file, which the engine then reads as a lock;
- a state that was written in part replaces the complete one, because only the checksum of the request is compared;
- a later write copies that part over the copy from before the last write.
"""

import json
from pathlib import Path

from jacquard.engine.errors import EngineError
from jacquard.engine.locks import lock_folder, project
from jacquard.machine.disk import free_bytes

_COPIES = 4
"""Files with the whole state that an operation writes: state, copy, backup and history."""
_FREE_BYTES = 32 << 20
"""Room for growth of the state during an operation."""


def file_of(folder: Path, stack: str) -> Path:
    """Return the state of ``stack`` in the file backend at ``folder``."""
    return folder / ".pulumi" / "stacks" / project() / f"{stack}.json"


def last_copy(folder: Path, stack: str) -> Path | None:
    """Return the newest copy of the state of ``stack`` that is complete, None if there is none.

    The copy from before the last write is newer than the backups, which are from the end of each operation.
    """
    file = file_of(folder, stack)
    backups = folder.joinpath(".pulumi", "backups", project(), stack).glob(f"{stack}.*.json")
    candidates = [file.with_name(f"{file.name}.bak"), *sorted(backups, reverse=True)]
    return next((copy for copy in candidates if _is_complete(copy)), None)


def remove_rests(folder: Path, stack: str) -> int:
    """Remove the rests of unfinished writes of ``stack``, and return their number.

    Call this without a lock of another engine. An engine that is writing its lock now cannot rename it afterwards, so
    it fails before its operation.
    """
    folders = (
        lock_folder(folder, stack),
        file_of(folder, stack).parent,
        *(folder / ".pulumi" / name / project() / stack for name in ("backups", "history")),
    )
    names = ("*.json.*.tmp", f"{stack}.json.*.tmp", f"{stack}.*.tmp", f"{stack}-*.tmp")
    rests = [file for place, name in zip(folders, names, strict=True) for file in place.glob(name)]
    for file in rests:
        file.unlink(missing_ok=True)
    return len(rests)


def require_room(folder: Path, stack: str) -> None:
    """Require room for the files that an operation on ``stack`` writes.

    Raises:
        EngineError: the disk has too little free space.
    """
    file = file_of(folder, stack)
    needed = _FREE_BYTES + _COPIES * (file.stat().st_size if file.exists() else 0)
    free = free_bytes(folder)
    if free < needed:
        msg = (
            f"{stack}: the disk of {folder} has {free >> 20} MiB of free space, and the state needs"
            f" {needed >> 20} MiB during an operation; nothing was changed; free space on this disk, then run this"
            " again"
        )
        raise EngineError(msg)


def _is_complete(file: Path) -> bool:
    try:
        return isinstance(json.loads(file.read_bytes()), dict)
    except (FileNotFoundError, ValueError):
        return False
