"""Text of lock files: one entry per line, sorted by allocated number, with a seal at the end.

The seal consists of the region, the digest of the other file's entries, and the digest of the whole file. The digest
of entries excludes the seal, so that both files can contain each other's digest. A change of one file requires a new
seal in both files.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from components.specs.base import Spec
from components.specs.locks import AllocationsLock, ImagesLock, LockFile
from components.specs.natural import natural, naturally
from components.specs.reading.strict_yaml import is_plain

_HEADERS = {
    AllocationsLock: "# written by jacquard allocate; review, do not edit\n",
    ImagesLock: "# written by jacquard allocate (new groups) and jacquard promote; review, do not edit\n",
}
_ORDERS: dict[str, Callable[[Any], Any]] = {
    "vpcs": lambda vpc: vpc.vni,
    "clusters": lambda cluster: cluster.vip,
    "public_ips": lambda address: address,
}
"""Sort keys of sections; sections that are not listed are sorted by name."""
_BLOCKS = ("intents", "dpu_intents", "chart_intents")
"""Sections whose entries have one line per field, because reviewers compare individual fields of these entries."""
_SEAL = ("region", "beside")
"""Keys that identify the region and the other file. They are at the end of a file so that other lines do not move in
diffs."""
_ENTRIES = "_entries_text"
_HEXADECIMAL = "pkeys"
_PLAIN = re.compile(r"[a-z][a-z0-9]*[-/][-a-z0-9./]*")
"""Text that needs no quotes: it starts like a name and cannot be a keyword or number of YAML."""
_UNQUOTED = re.compile(r"[A-Za-z0-9./]([-A-Za-z0-9._/:@+=%]*[-A-Za-z0-9._/@+=%])?")
"""Text without special characters of YAML."""
_Lock = TypeVar("_Lock", bound=LockFile)


def lock_text(lock: LockFile) -> str:
    """Return the text of a lock file, with its digest."""
    body = _body(lock)
    return f"{_HEADERS[type(lock)]}{body}digest: {_sha256(body)}\n"


def digest_of(lock: LockFile) -> str:
    """Return the digest over the content of ``lock``, without its ``digest`` field."""
    return _sha256(_body(lock))


def entries_digest(lock: LockFile) -> str:
    """Return the digest over the entries of ``lock``, which the other lock file of the region contains."""
    return _sha256(_entries(lock))


def sealed(lock: _Lock) -> _Lock:
    """Return ``lock`` with its current digest."""
    return lock.model_copy(update={"digest": digest_of(lock)})


def paired(region: str, numbers: AllocationsLock, pins: ImagesLock) -> tuple[AllocationsLock, ImagesLock]:
    """Return both lock files of ``region`` with the region, each other's digests and their own digests set."""
    return (
        sealed(numbers.model_copy(update={"region": region, "beside": entries_digest(pins)})),
        sealed(pins.model_copy(update={"region": region, "beside": entries_digest(numbers)})),
    )


def entry_text(entry: Any) -> str:
    """Return an entry or value in the form of lock files, such as ``{nodes: 4}``."""
    return _entry(entry.model_dump(mode="json", exclude_defaults=True) if isinstance(entry, Spec) else entry)


def _body(lock: LockFile) -> str:
    seal = ((key, getattr(lock, key)) for key in _SEAL)
    return "".join((_entries(lock), *(f"{key}: {_scalar(value)}\n" for key, value in seal if value)))


def _entries(lock: LockFile) -> str:
    """Return the text of all sections. It is kept with ``lock`` like a cached property, which copies drop."""
    kept = vars(lock)
    if _ENTRIES not in kept:
        kept[_ENTRIES] = "".join(_sections(lock))
    return str(kept[_ENTRIES])


def _sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _sections(lock: LockFile) -> Iterator[str]:
    data = lock.model_dump(mode="json", exclude={"digest", *_SEAL}, exclude_defaults=True)
    yield f"schema_version: {lock.schema_version}\n"
    for section in type(lock).model_fields:
        if section == "schema_version" or section not in data:
            continue  # Empty sections are omitted, so that new sections of a later release do not change files.
        entries = data[section]
        yield f"{section}:\n"
        for name in _names(section, getattr(lock, section)):
            if section in _BLOCKS:
                yield f"  {_scalar(name)}:\n"
                yield from (f"    {key}: {_entry(value)}\n" for key, value in entries[name].items())
            else:
                yield f"  {_scalar(name)}: {_entry(entries[name])}\n"


def _names(section: str, entries: Mapping[str, Any]) -> list[str]:
    order = _ORDERS.get(section)
    if order is None:
        return naturally(entries)
    return sorted(entries, key=lambda name: (order(entries[name]), natural(name)))


def _entry(value: Any, key: str = "") -> str:
    match value:
        case dict():
            below = (key if key == _HEXADECIMAL else name for name in value)
            inner = (
                f"{_scalar(name)}: {_entry(item, at)}" for (name, item), at in zip(value.items(), below, strict=True)
            )
            return f"{{{', '.join(inner)}}}"
        case list():
            return f"[{', '.join(_entry(item, key) for item in value)}]"
        case bool() | None:
            return json.dumps(value)
        case int() if key == _HEXADECIMAL:
            return f"{value:#x}"
        case str():
            return _scalar(value)
        case _:
            return str(value)


@lru_cache(maxsize=1 << 16)
def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) or (_UNQUOTED.fullmatch(text) and is_plain(text)):
        return text
    return json.dumps(text, ensure_ascii=False)  # YAML reads JSON strings as the same text.
