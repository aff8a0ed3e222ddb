"""Free ports on the loopback interface."""

import random
import socket

from jacquard.lab.rehearsal.errors import RehearsalError

LOOPBACK = "127.0.0.1"
FIRST, LAST = 20000, 32000
"""Range of ports, below the range of ephemeral source ports of Linux."""
_TRIES = 2000


def free(count: int) -> list[int]:
    """Return ``count`` different ports that are free now.

    Another program may bind a port before the caller does; callers have to detect this case and try again.

    Raises:
        RehearsalError: Too few ports are free.
    """
    ports: list[int] = []
    for port in random.sample(range(FIRST, LAST), _TRIES):
        if is_free(port):
            ports.append(port)
        if len(ports) == count:
            return ports
    msg = (
        f"ports {FIRST}-{LAST - 1} on {LOOPBACK}: {count} free ports required, {len(ports)} found; "
        "stop other programs that listen there"
    )
    raise RehearsalError(msg)


def is_free(port: int) -> bool:
    """Return whether a server can bind ``port`` now."""
    with socket.socket() as probe:
        # Servers can bind a port whose last connections are still closing, so such a port counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
