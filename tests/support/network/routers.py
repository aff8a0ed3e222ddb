"""Routers in network namespaces of this machine, with the real FRR; VRFs are namespaces as well.

Few kernels of small machines have VRF devices, and zebra can use namespaces instead (``--vrfwnetns``).
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.support.machine.debian import Unpacked, unpacked
from tests.support.machine.namespaces import Namespace
from tests.support.machine.scaled_timeout import ScaledTimeout

# Daemons look up the user frr, which the mounted passwd file defines. Each machine has its own namespaces and sockets
# in /run.
_SETUP = """mount -t tmpfs tmpfs /run && mkdir -p /run/netns && mount --bind {passwd} /etc/passwd &&
mount --bind {group} /etc/group"""
_END = b"\0\0\0"
_PACKAGES = ("frr", "libyang2", "libjson-c5", "libc-ares2", "libcap2")
"""FRR and the libraries that a minimal Debian lacks."""
_Seen = TypeVar("_Seen")


class Router(Namespace):
    """One machine with its own mounts, VRFs, zebra and bgpd.

    Args:
        name: Name of the machine.
        folder: Folder for its files.
        frr: FRR packages to run.
    """

    def __init__(self, name: str, folder: Path, frr: Unpacked) -> None:
        self.name, self._folder, self._frr = name, folder / name, frr
        self._folder.mkdir()
        (self._folder / "passwd").write_text("root:x:0:0::/:/bin/sh\nfrr:x:0:0::/:/bin/sh\n")
        (self._folder / "group").write_text("root:x:0:\nfrr:x:0:\nfrrvty:x:0:\n")
        setup = _SETUP.format(passwd=self._folder / "passwd", group=self._folder / "group")
        super().__init__(setup, mounts=True)
        self._daemons: list[subprocess.Popen[bytes]] = []

    def add_vrf(self, name: str, vni: int, tunnel: str) -> None:
        """Create a VRF with its bridge and the VXLAN interface of ``vni``, whose packets come from ``tunnel``."""
        self.ip(f"netns add {name}")
        self.ip(f"link add name vxlan type vxlan id {vni} dstport 4789 local {tunnel} nolearning")
        self.ip(f"link set vxlan name vxlan{vni} netns {name}")
        self.ip(f"link add name bridge{vni} type bridge", vrf=name)
        self.ip(f"link set vxlan{vni} master bridge{vni}", vrf=name)
        for interface in ("lo", f"bridge{vni}", f"vxlan{vni}"):
            self.ip(f"link set {interface} up", vrf=name)

    def move(self, port: str, vrf: str, address: str) -> None:
        """Move ``port`` into ``vrf``, with ``address``."""
        self.ip(f"link set {port} netns {vrf}")
        self.ip(f"address add {address} dev {port}", vrf=vrf)
        self.ip(f"link set {port} up", vrf=vrf)

    def start(self, configuration: str) -> None:
        """Start zebra and bgpd with one configuration, of which each gets its own blocks."""
        for daemon, options in (("zebra", ("--vrfwnetns",)), ("bgpd", ())):
            (self._folder / f"{daemon}.conf").write_text(_own(daemon, configuration))
            files = ("-f", str(self._folder / f"{daemon}.conf"), "-i", f"/run/{daemon}.pid")
            sockets = ("--vty_socket", "/run", "-z", "/run/zserv")
            command = self.command(str(self._frr.path(f"usr/lib/frr/{daemon}")), *files, *options, *sockets)
            with (self._folder / f"{daemon}.log").open("wb") as log:
                process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=self._frr.environment)
            self._daemons.append(process)
            wait(f"{daemon} of {self.name}", Path(f"/proc/{self.pid}/root/run/{daemon}.vty").exists, bool)

    def ask(self, command: str) -> Any:
        """Return bgpd's answer to a command with JSON output."""
        return json.loads(self._say(command) or "{}")

    def configure(self, *lines: str) -> None:
        """Change the configuration of the running bgpd."""
        self._say("configure terminal", *lines)

    def _say(self, *commands: str) -> str:
        """Return bgpd's output of the last of some commands."""
        answer = bytearray()
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(30)
            line.connect(f"/proc/{self.pid}/root/run/bgpd.vty")
            for one in ("enable", *commands):
                line.sendall(one.encode() + b"\0")
                answer.clear()
                while answer[-4:-1] != _END:
                    answer += line.recv(1 << 16)
                assert answer[-1] == 0, f"{self.name}: {one}: {bytes(answer)!r}"
        return answer[:-4].decode()

    def close(self) -> None:
        """End all processes of the machine, which deletes its namespaces."""
        for daemon in self._daemons:
            daemon.kill()  # zebra may spin forever on SIGTERM.
            daemon.wait()
        super().close()


def _own(daemon: str, configuration: str) -> str:
    """Return the blocks that ``daemon`` supports: VRFs with VNIs for zebra, all others for bgpd."""
    blocks = configuration.split("!\n")
    return "!\n".join(block for block in blocks if block.startswith("vrf ") == (daemon == "zebra"))


@contextmanager
def lab(folder: Path) -> Iterator[Callable[[str], Router]]:
    """Yield a function that creates a machine by name in ``folder``; all of them are deleted when the block ends."""
    frr, made = unpacked("frr", _PACKAGES), list[Router]()

    def machine(name: str) -> Router:
        made.append(Router(name, folder, frr))
        return made[-1]

    try:
        yield machine
    finally:
        for one in reversed(made):
            one.close()


def wait(what: str, look: Callable[[], _Seen], enough: Callable[[_Seen], bool]) -> None:
    """Poll until ``enough`` accepts the result of ``look``; fail with the last result after the timeout."""
    patience = ScaledTimeout(60)
    while not enough(seen := look()):
        assert not patience.is_over(), f"{what}: {seen}"
        time.sleep(0.2)
