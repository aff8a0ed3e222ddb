"""Validation of mount options of storage classes. Without it, a wrong option would make every later mount fail.

Names and values are those of Linux' NFS client (linux:fs/nfs/fs_context.c, ``nfs_fs_parameters``), of ``mount(8)``, and
of VAST's client (vastnfs.vastdata.com, "Mount parameters").
"""

import re
from collections.abc import Iterator, Sequence

from components.specs.base import ConstraintViolation
from components.specs.reading.problems import listed, nearest, one_of

VAST_OPTIONS = ("remoteports", "localports", "spread_reads", "spread_writes", "mdconnect", "pconnect", "noextend")
"""Mount options of VAST's NFS client only."""
_WITH_NO = ("ac", "acl", "cto", "fsc", "intr", "lock", "migration", "posix", "rdirplus", "resvport", "sharecache")
_VERSIONS = ("v3", "v4", "v4.0", "v4.1", "v4.2")
_ACCESS_TIMES = ("atime", "noatime", "relatime", "norelatime", "strictatime", "nostrictatime")
_GENERIC = (
    *("ro", "rw", "sync", "async", "dirsync", "suid", "nosuid", "dev", "nodev", "exec", "noexec"),
    *("diratime", "nodiratime", "lazytime", "nolazytime", "mand", "nomand", "silent", "loud", "defaults", "_netdev"),
    *_ACCESS_TIMES,
)
"""Options of ``mount(8)`` for all file systems."""
_FLAGS = {
    *(prefix + name for name in (*_WITH_NO, "trunkdiscovery", "softreval") for prefix in ("", "no")),
    *("bg", "fg", "hard", "soft", "softerr", "tcp", "udp", "rdma", "sloppy"),
    *("spread_reads", "spread_writes", "noextend"),
    *(*_VERSIONS, *_GENERIC),
}
_U32, _PORT = 2**32 - 1, 65535
_NUMBERS = {
    **dict.fromkeys(("acdirmax", "acdirmin", "acregmax", "acregmin", "actimeo", "bsize", "namlen"), (0, _U32)),
    **dict.fromkeys(("rsize", "wsize"), (1024, _U32)),
    **dict.fromkeys(("nconnect", "mdconnect", "pconnect"), (1, _U32)),
    **dict.fromkeys(("timeo", "retrans", "retry"), (0, 2**31 - 1)),
    **dict.fromkeys(("port", "mountport"), (0, _PORT)),
    "max_connect": (1, 128),
    "minorversion": (0, 2),
    "mountvers": (1, 3),
}
_NFS_VERSIONS = ("3", "4", "4.0", "4.1", "4.2")
_WORDS = {
    "nfsvers": _NFS_VERSIONS,
    "vers": _NFS_VERSIONS,
    "proto": ("tcp", "tcp6", "udp", "udp6", "rdma", "rdma6"),
    "mountproto": ("tcp", "tcp6", "udp", "udp6"),
    "local_lock": ("all", "flock", "posix", "none"),
    "lookupcache": ("all", "none", "pos", "positive"),
    "write": ("lazy", "eager", "wait"),
    "xprtsec": ("none", "tls", "mtls"),
    "sec": ("sys", "none", "krb5", "krb5i", "krb5p"),
}
_TEXTS = {"addr", "clientaddr", "mountaddr", "mounthost", "fsc", "remoteports", "localports", "context"}
_NAMES = sorted({*_FLAGS, *_NUMBERS, *_WORDS, *_TEXTS})
_SETTINGS = {
    **dict.fromkeys(("nfsvers", "vers", *_VERSIONS), "version"),
    **dict.fromkeys(("proto", "tcp", "udp", "rdma"), "transport"),
    **dict.fromkeys(("hard", "soft", "softerr"), "patience"),
    **dict.fromkeys(("bg", "fg"), "background"),
    **dict.fromkeys(("ro", "rw"), "writing"),
    **dict.fromkeys(("sync", "async"), "synchronous"),
    **dict.fromkeys(_ACCESS_TIMES, "access times"),
}
"""Settings that several option names change; the last option applies."""
_FORM = re.compile(r"[^\s,=]+(=[^\s,]+)?")


def incompatibilities(options: Sequence[str], *, nfs: bool) -> Iterator[ConstraintViolation]:
    """Yield invalid mount options for NFS or a local file system, and options that repeat a setting."""
    first: dict[str, int] = {}
    for at, option in enumerate(options):
        path = ("mount_options", at)
        name = option.partition("=")[0]
        if not _FORM.fullmatch(option):
            parts = re.split(r"[\s,]+", re.sub(r"\s*=\s*", "=", option).strip(" ,").removeprefix("-o "))
            yield ConstraintViolation(f"must be one option, like nconnect=8; write [{listed(parts)}]", path, option)
            continue
        wrong = _nfs_fault(option) if nfs else _local_fault(name)
        if wrong:
            yield ConstraintViolation(wrong, path, option)
            continue
        other = first.setdefault(_setting(name), at)
        if other != at:
            rule = f"overrides '{options[other]}'"
            yield ConstraintViolation(f"{rule}; remove one of the two", path, option)


def _setting(name: str) -> str:
    plain = name.removeprefix("no")
    return _SETTINGS.get(name, plain if plain in _FLAGS else name)


def _local_fault(name: str) -> str:
    if name in _NAMES and name not in _GENERIC:
        return "is an option of NFS, but this volume is on a local disk; remove it"
    return ""


def _nfs_fault(option: str) -> str:
    """Return the fault of an NFS mount option, with the most similar valid one; empty if the option is valid."""
    name, mark, value = option.partition("=")
    if name not in _NAMES:
        near = nearest(name.lower(), _NAMES)
        remedy = f"write {_like(near, value)}" if near else "write one of nfs(5)"
        return f"is not a mount option of NFS; {remedy}"
    if not mark:
        return "" if name in _FLAGS else f"needs a value; write {_like(name, '')}"
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        number = int(value) if value.isascii() and value.isdecimal() and len(value) <= len(str(_U32)) else -1
        least = f"write {name}={min(max(number, low), high)}" if number >= 0 else f"write {_like(name, '')}"
        return "" if low <= number <= high else f"must be a number from {low} to {high}; {least}"
    if name in _WORDS:
        words = _WORDS[name]
        wrong = [word for word in (value.split(":") if name == "sec" else [value]) if word not in words]
        near = nearest(wrong[0].lower(), words) if wrong else ""
        return f"must be {one_of(words)}; write {name}={near or words[0]}" if wrong else ""
    return "" if name in _TEXTS else f"takes no value; write {name}"


def _like(name: str, value: str) -> str:
    """Return ``name``, with a value if the option requires one."""
    if name in _FLAGS:
        return name
    return f"{name}={value or _EXAMPLES.get(name) or next(iter(_WORDS.get(name, ('...',))))}"


_EXAMPLES = {
    **{name: str(low) for name, (low, _) in _NUMBERS.items()},
    "nconnect": "8",
    "nfsvers": "4.2",
    "vers": "4.2",
    "rsize": "1048576",
    "wsize": "1048576",
    "timeo": "600",
    "retrans": "2",
    "remoteports": "dns",
    "localports": "eth0",
}
