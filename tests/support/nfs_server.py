"""A real NFS server and hosts of tenants, each in a network of its own: NFS-Ganesha and libnfs, all in user space."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from debian import Unpacked, unpacked

_GANESHA = ("nfs-ganesha", "nfs-ganesha-vfs", "libntirpc4.3", "liburcu8", "libwbclient0", "libnfsidmap1")
_CLIENT = ("libnfs-utils", "libnfs13")
_UP_SECONDS = 30
_STARTED = "NFS SERVER INITIALIZED"
Exports = Mapping[str, tuple[IPv4Network, ...]]
"""Networks that may mount, by exported path."""


def tools() -> Unpacked:
    """Return server and client; a test that asks for them is skipped where they cannot be had."""
    return unpacked("nfs", (*_GANESHA, *_CLIENT))


class Network:
    """A network namespace, which lives as long as its process."""

    def __init__(self, address: IPv4Address) -> None:
        self.address = address
        keeper = ["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"]
        self._process = subprocess.Popen(keeper, stdout=subprocess.PIPE)
        assert self._process.stdout
        self._process.stdout.readline()  # before that, a program would run in the network that we are in

    def command(self, *words: str) -> list[str]:
        """Return the command that runs ``words`` in it."""
        return ["nsenter", f"--target={self._process.pid}", "--net", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in it, with the libraries of `tools`."""
        return subprocess.run(
            self.command(*words), capture_output=True, text=True, check=False, env=tools().environment
        )

    def ip(self, text: str) -> None:
        """Configure it by one command of iproute2."""
        done = self.run("ip", *text.split())
        assert done.returncode == 0, f"ip {text}: {done.stderr}"

    def connect(self, other: Network, name: str) -> None:
        """Lay a cable to ``other``, over which each reaches the other's address alone."""
        self.ip(f"link add {name} type veth peer name cable netns {other._process.pid}")
        self.ip(f"link set {name} up")
        self.ip(f"route add {other.address}/32 dev {name} src {self.address}")
        other.ip("link set cable up")
        other.ip(f"route add {self.address}/32 dev cable src {other.address}")

    def close(self) -> None:
        """Let go of it."""
        self._process.terminate()
        self._process.communicate()


@contextmanager
def network(address: IPv4Address) -> Iterator[Network]:
    """Give a network of its own to whoever has ``address``; where none can be made the test is skipped."""
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces without root")
    made = Network(address)
    try:
        made.ip("link set lo up")
        made.ip(f"address add {address}/32 dev lo")
        yield made
    finally:
        made.close()


@contextmanager
def serving(server: Network, exports: Exports, folder: Path) -> Iterator[None]:
    """Serve ``exports`` at the address of ``server``; each holds a file ``owner`` with its own path."""
    program, log = str(tools().path("usr/bin/ganesha.nfsd")), folder / "log"
    (folder / "config").write_text("\n".join(_config(server.address, exports, folder)))
    words = (program, "-F", "-L", str(log), "-f", str(folder / "config"), "-p", str(folder / "pid"))
    with ExitStack() as stack:
        running = subprocess.Popen(server.command(*words), env=tools().environment)
        stack.callback(running.wait)
        stack.callback(running.terminate)
        deadline = time.monotonic() + _UP_SECONDS
        while not (log.exists() and _STARTED in log.read_text()):
            assert running.poll() is None, log.read_text() if log.exists() else "it ended without a log"
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield


def read(host: Network, server: Network, path: str) -> tuple[str, str]:
    """Return what ``host`` reads of a file at ``server``, and what is said against it."""
    done = host.run(str(tools().path("usr/bin/nfs-cat")), f"nfs://{server.address}{path}?version=4")
    return done.stdout, done.stderr


def _config(address: IPv4Address, exports: Exports, folder: Path) -> Iterator[str]:
    """Yield what exports(5) says, in Ganesha's words; without NFSv3 it needs no port mapper."""
    where = f'Plugins_Dir = "{tools().path("usr/lib/*/ganesha/libfsalvfs.so").parent}";'
    without = "".join(f"Enable_{name} = false; " for name in ("UDP", "NLM", "RQUOTA"))
    yield f"NFS_CORE_PARAM {{ Protocols = 4; {without}Bind_addr = {address}; {where} }}"
    yield f"NFSv4 {{ Graceless = true; Only_Numeric_Owners = true; UseGetpwnam = true; RecoveryRoot = {folder}; }}"
    yield "NFS_KRB5 { Active_krb5 = false; }"
    for number, (path, clients) in enumerate(exports.items(), 1):
        home = folder / f"export-{number}"
        home.mkdir()
        (home / "owner").write_text(path)
        allowed = f"CLIENT {{ Clients = {', '.join(map(str, clients))}; Access_Type = RW; }}"
        yield (
            f"EXPORT {{ Export_Id = {number}; Path = {home}; Pseudo = {path}; Access_Type = None; SecType = sys;"
            f" Squash = No_Root_Squash; FSAL {{ Name = VFS; }} {allowed} }}"
        )
