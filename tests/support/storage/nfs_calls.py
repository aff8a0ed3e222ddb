"""Operations of root at an NFS server: ``SERVER PATH mkdir MODE`` and ``SERVER PATH setattr GROUP MODE``.

libnfs has no programs for them. The operations are those of NFSv4.0 (RFC 7530) that need no state.
"""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Iterable

_PORT, _PROGRAM, _VERSION, _COMPOUND = 2049, 100003, 4, 1
_PUT_ROOT, _LOOKUP, _CREATE, _SET = 24, 15, 6, 34
_DIRECTORY = 2
_MODE, _GROUP = 1 << 1, 1 << 5
"""Bits of attributes in the second word of a bitmap."""
_NOBODY, _SYS = 0, 1


def numbers(*values: int) -> bytes:
    """Return numbers in XDR encoding."""
    return struct.pack(f">{len(values)}I", *values)


def text(value: bytes) -> bytes:
    """Return an opaque value in XDR encoding."""
    return numbers(len(value)) + value + bytes(-len(value) % 4)


def attributes(mode: int, group: int | None = None) -> bytes:
    """Return the encoded attributes of a file, in the order of their bits."""
    given = numbers(mode) + (b"" if group is None else text(str(group).encode()))
    return numbers(2, 0, _MODE if group is None else _MODE | _GROUP) + text(given)


def compound(server: str, operations: Iterable[bytes]) -> int:
    """Send ``operations`` as root in one COMPOUND call, and return its status: 0, or an NFS error."""
    done = list(operations)
    login = numbers(0) + text(b"host") + numbers(0, 0, 0)
    header = numbers(1, 0, 2, _PROGRAM, _VERSION, _COMPOUND, _SYS) + text(login) + numbers(_NOBODY, 0)
    call = header + text(b"") + numbers(0, len(done)) + b"".join(done)
    with socket.create_connection((server, _PORT), timeout=30) as link:
        link.sendall(numbers(1 << 31 | len(call)) + call)
        reply = link.makefile("rb").read(4 + 28)
    # Skip the record mark and the header of the RPC reply.
    _, _, _, denied, _, _, failed, status = struct.unpack(">8I", reply)
    assert not denied, "the call was denied"
    assert not failed, "the call was not run"
    return int(status)


def run(server: str, path: str, step: str, *values: int) -> int:
    """Run an operation at ``path``, and return the status."""
    *parents, name = path.strip("/").encode().split(b"/")
    at = [numbers(_PUT_ROOT), *(numbers(_LOOKUP) + text(part) for part in parents)]
    if step == "mkdir":
        [mode] = values
        return compound(server, [*at, numbers(_CREATE, _DIRECTORY) + text(name) + attributes(mode)])
    group, mode = values
    here = numbers(_LOOKUP) + text(name)
    return compound(server, [*at, here, numbers(_SET, 0, 0, 0, 0) + attributes(mode, group)])


if __name__ == "__main__":
    found = run(sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
    sys.exit(f"{sys.argv[3]}: error {found} of NFS" if found else None)
