"""Free ports on the loopback interface."""

from __future__ import annotations

import random
import socket

from jacquard.lab.rehearsal.errors import RehearsalError

LOOPBACK = "127.0.0.1"
FIRST, LAST = 20000, 32000
"""Below the range from which Linux takes source ports of outgoing connections, which would come and go."""
_TRIES = 2000


def free(count: int) -> list[int]:
    """Return different ports that nothing listens on right now.

    Another program may take one before it is used: whoever binds it notices and asks again.

    Raises:
        RehearsalError: Too few are free.
    """
    found: list[int] = []
    for port in random.sample(range(FIRST, LAST), _TRIES):
        if is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    msg = (
        f"ports {FIRST}-{LAST - 1} on {LOOPBACK}: {count} free ones wanted, {len(found)} found; stop what listens there"
    )
    raise RehearsalError(msg)


def is_free(port: int) -> bool:
    """Return whether a server could bind ``port`` now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
