"""The text of lock files: one entry a line, by number within a range, and at the end what seals the file.

The seal is the region, the digest of the other file's entries, and the digest over all of this file. The digest of
entries leaves the seal out, so that two files name each other without a circle. Whoever changes one seals both.
"""

from __future__ import annotations

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
"""How the entries of a section are sorted; those of other sections are sorted by name."""
_BLOCKS = ("intents", "dpu_intents", "chart_intents")
"""Sections whose entries have a line for each field, since people read and compare these one by one."""
_SEAL = ("region", "beside")
"""Keys that say where a file belongs, at its end: what people review stays where it is, line by line."""
_HEXADECIMAL = "pkeys"
_PLAIN = re.compile(r"[a-z][a-z0-9]*[-/][-a-z0-9./]*")
"""Text that needs no closer look, since it begins like a name and goes on like no word or number of YAML."""
_UNQUOTED = re.compile(r"[A-Za-z0-9./]([-A-Za-z0-9._/:@+=%]*[-A-Za-z0-9._/@+=%])?")
"""Text without a character that means something in YAML."""
_Lock = TypeVar("_Lock", bound=LockFile)


def lock_text(lock: LockFile) -> str:
    """Return the text of a lock file, with the digest that fits."""
    body = _body(lock)
    return f"{_HEADERS[type(lock)]}{body}digest: {_sha256(body)}\n"


def digest_of(lock: LockFile) -> str:
    """Return the digest over all that ``lock`` says, its own ``digest`` aside."""
    return _sha256(_body(lock))


def entries_digest(lock: LockFile) -> str:
    """Return the digest over the entries of ``lock``, by which the other file of its region names it."""
    return _sha256("".join(_sections(lock)))


def sealed(lock: _Lock) -> _Lock:
    """Return ``lock`` with the digest that fits."""
    return lock.model_copy(update={"digest": digest_of(lock)})


def paired(region: str, numbers: AllocationsLock, pins: ImagesLock) -> tuple[AllocationsLock, ImagesLock]:
    """Return both lock files of ``region`` such that they name it and each other, sealed."""
    return (
        sealed(numbers.model_copy(update={"region": region, "beside": entries_digest(pins)})),
        sealed(pins.model_copy(update={"region": region, "beside": entries_digest(numbers)})),
    )


def entry_text(entry: Any) -> str:
    """Return an entry of a lock file, or a value in it, as it is written, such as ``{nodes: 4}``."""
    return _entry(entry.model_dump(mode="json", exclude_defaults=True) if isinstance(entry, Spec) else entry)


def _body(lock: LockFile) -> str:
    seal = ((key, getattr(lock, key)) for key in _SEAL)
    return "".join((*_sections(lock), *(f"{key}: {_scalar(value)}\n" for key, value in seal if value)))


def _sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _sections(lock: LockFile) -> Iterator[str]:
    data = lock.model_dump(mode="json", exclude={"digest", *_SEAL}, exclude_defaults=True)
    yield f"schema_version: {lock.schema_version}\n"
    for section in type(lock).model_fields:
        if section == "schema_version" or section not in data:
            continue  # what is empty is not written, so that a section a later release adds makes no old file stale
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
    return json.dumps(text, ensure_ascii=False)  # which YAML reads alike
