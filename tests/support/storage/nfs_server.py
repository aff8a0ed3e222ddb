"""A real NFS server and hosts of tenants in separate networks: NFS-Ganesha and libnfs, in user space."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import NamedTuple

from tests.support.machine.debian import Unpacked, unpacked
from tests.support.machine.namespaces import Namespace
from tests.support.machine.scaled_timeout import ScaledTimeout

_GANESHA = ("nfs-ganesha", "nfs-ganesha-vfs", "libntirpc4.3", "liburcu8", "libwbclient0", "libnfsidmap1")
_CLIENT = ("libnfs-utils", "libnfs13")
_UP_SECONDS = 30
_STARTED = "NFS SERVER INITIALIZED"
_SQUASHES = {"no_root_squash": "No_Root_Squash", "all_squash": "All_Squash"}
_CALLS = Path(__file__).with_name("nfs_calls.py")


class Export(NamedTuple):
    """An entry of exports(5): networks that may mount the path, and options."""

    networks: tuple[IPv4Network, ...]
    options: tuple[str, ...]

    @property
    def squash(self) -> str:
        """Return the squash mode of root; the default is root_squash."""
        return next((word for option, word in _SQUASHES.items() if option in self.options), "Root_Squash")


Exports = Mapping[str, Export]
"""Exports by path."""


def tools() -> Unpacked:
    """Return server and client; skip the test if they are not available."""
    return unpacked("nfs", (*_GANESHA, *_CLIENT))


class Network(Namespace):
    """The network of the machine with ``address``."""

    def __init__(self, address: IPv4Address) -> None:
        self.address = address
        super().__init__(f"ip address add {address}/32 dev lo")

    def connect(self, other: Network, name: str) -> None:
        """Connect to ``other``, with routes to each other's address only."""
        self.link(name, other, "cable")
        self.ip(f"route add {other.address}/32 dev {name} src {self.address}")
        other.ip(f"route add {self.address}/32 dev cable src {other.address}")


@contextmanager
def network(address: IPv4Address) -> Iterator[Network]:
    """Create a network for the machine with ``address``."""
    with closing(Network(address)) as made:
        yield made


@contextmanager
def serving(server: Network, exports: Exports, folder: Path) -> Iterator[None]:
    """Serve ``exports`` at the address of ``server``; each contains a file ``owner`` with its own path."""
    program, log = str(tools().path("usr/bin/ganesha.nfsd")), folder / "log"
    (folder / "config").write_text("\n".join(_config(server.address, exports, folder)))
    words = (program, "-F", "-L", str(log), "-f", str(folder / "config"), "-p", str(folder / "pid"))
    with ExitStack() as stack:
        running = subprocess.Popen(server.command(*words), env=tools().environment)
        stack.callback(running.wait)
        stack.callback(running.terminate)
        patience = ScaledTimeout(_UP_SECONDS)
        while not (log.exists() and _STARTED in log.read_text()):
            assert running.poll() is None, log.read_text() if log.exists() else "it ended without a log"
            assert not patience.is_over(), log.read_text()
            time.sleep(0.1)
        yield


def read(host: Network, server: Network, path: str, user: int = 0) -> tuple[str, str]:
    """Return the content that ``user`` of ``host`` reads from a file at ``server``, and the error output."""
    words = (str(tools().path("usr/bin/nfs-cat")), _url(server, path, user))
    done = host.run(*words, environment=tools().environment)
    return done.stdout, done.stderr


def write(host: Network, server: Network, path: str, content: Path, user: int) -> str:
    """Write ``content`` from ``host`` to a file at ``server`` as ``user``; return the error output."""
    words = (str(tools().path("usr/bin/nfs-cp")), str(content), _url(server, path, user))
    done = host.run(*words, environment=tools().environment)
    return done.stderr if done.returncode else ""


def as_root(host: Network, server: Network, path: str, *step: str) -> str:
    """Run an operation of `nfs_calls` as root of ``host``; return the error output."""
    return host.run(sys.executable, str(_CALLS), str(server.address), path, *step).stderr


def _url(server: Network, path: str, user: int) -> str:
    return f"nfs://{server.address}{path}?version=4&uid={user}&gid={user}"


def _config(address: IPv4Address, exports: Exports, folder: Path) -> Iterator[str]:
    """Yield the exports in Ganesha's configuration format; without NFSv3, no port mapper is needed."""
    where = f'Plugins_Dir = "{tools().path("usr/lib/*/ganesha/libfsalvfs.so").parent}";'
    without = "".join(f"Enable_{name} = false; " for name in ("UDP", "NLM", "RQUOTA"))
    yield f"NFS_CORE_PARAM {{ Protocols = 4; {without}Bind_addr = {address}; {where} }}"
    yield f"NFSv4 {{ Graceless = true; Only_Numeric_Owners = true; UseGetpwnam = true; RecoveryRoot = {folder}; }}"
    yield "NFS_KRB5 { Active_krb5 = false; }"
    for number, (path, export) in enumerate(exports.items(), 1):
        home = folder / f"export-{number}"
        home.mkdir()
        (home / "owner").write_text(path)
        allowed = f"CLIENT {{ Clients = {', '.join(map(str, export.networks))}; Access_Type = RW; }}"
        yield (
            f"EXPORT {{ Export_Id = {number}; Path = {home}; Pseudo = {path}; Access_Type = None; SecType = sys;"
            f" Squash = {export.squash}; FSAL {{ Name = VFS; }} {allowed} }}"
        )
