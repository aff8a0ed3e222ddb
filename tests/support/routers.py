"""Machines that route, in network namespaces of this one, with the real FRR: VRFs are namespaces as well.

Few kernels of small machines have VRF devices, and zebra takes a namespace for one (``--vrfwnetns``).
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

import pytest
from debian import Unpacked, unpacked
from patience import Patience

# Daemons look their own user up, who is nobody here, and each machine has namespaces and sockets of its own in /run.
_BOOT = """mount -t tmpfs tmpfs /run && mkdir -p /run/netns && mount --bind {passwd} /etc/passwd &&
mount --bind {group} /etc/group && ip link set lo up && echo up && exec sleep infinity"""
_END = b"\0\0\0"
_PACKAGES = ("frr", "libyang2", "libjson-c5", "libc-ares2", "libcap2")
"""FRR and the libraries that a small Debian lacks."""
_Seen = TypeVar("_Seen")


class Router:
    """One machine: a namespace for its network and its mounts, links to others, VRFs, zebra and bgpd.

    Args:
        name: of the machine.
        folder: for its files.
        frr: what runs on it.
    """

    def __init__(self, name: str, folder: Path, frr: Unpacked) -> None:
        self.name, self._folder, self._frr = name, folder / name, frr
        self._folder.mkdir()
        (self._folder / "passwd").write_text("root:x:0:0::/:/bin/sh\nfrr:x:0:0::/:/bin/sh\n")
        (self._folder / "group").write_text("root:x:0:\nfrr:x:0:\nfrrvty:x:0:\n")
        boot = _BOOT.format(passwd=self._folder / "passwd", group=self._folder / "group")
        self._started = [
            subprocess.Popen(
                ("unshare", "--mount", "--net", "--propagation", "private", "sh", "-c", boot),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        ]
        stdout = self._started[0].stdout
        assert stdout is not None
        if (said := stdout.readline()) != b"up\n":
            pytest.skip(f"NO NAMESPACES: routes are not judged by the real FRR: {said.decode().strip()}")
        self._inside = ("nsenter", "--target", str(self._started[0].pid), "--mount", "--net")

    def run(self, *command: str, vrf: str | None = None) -> None:
        """Run a command on the machine, in the namespace of ``vrf`` if one is named."""
        place = ("ip", "netns", "exec", vrf) if vrf else ()
        subprocess.run((*self._inside, *place, *command), check=True, capture_output=True)

    def link(self, port: str, other: Router, other_port: str) -> None:
        """Lay a cable between two ports."""
        pid = str(other._started[0].pid)
        self.run("ip", "link", "add", "name", port, "type", "veth", "peer", "name", other_port, "netns", pid)
        self.run("ip", "link", "set", port, "up")
        other.run("ip", "link", "set", other_port, "up")

    def add_vrf(self, name: str, vni: int, tunnel: str) -> None:
        """Make a VRF with its bridge and the VXLAN interface of ``vni``, whose packets come from ``tunnel``."""
        self.run("ip", "netns", "add", name)
        vxlan = ("type", "vxlan", "id", str(vni), "dstport", "4789", "local", tunnel, "nolearning")
        self.run("ip", "link", "add", "name", "vxlan", *vxlan)
        self.run("ip", "link", "set", "vxlan", "name", f"vxlan{vni}", "netns", name)
        self.run("ip", "link", "add", "name", f"bridge{vni}", "type", "bridge", vrf=name)
        self.run("ip", "link", "set", f"vxlan{vni}", "master", f"bridge{vni}", vrf=name)
        for interface in ("lo", f"bridge{vni}", f"vxlan{vni}"):
            self.run("ip", "link", "set", interface, "up", vrf=name)

    def move(self, port: str, vrf: str, address: str) -> None:
        """Put ``port`` into ``vrf``, with ``address``."""
        self.run("ip", "link", "set", port, "netns", vrf)
        self.run("ip", "address", "add", address, "dev", port, vrf=vrf)
        self.run("ip", "link", "set", port, "up", vrf=vrf)

    def start(self, configuration: str) -> None:
        """Start zebra and bgpd with one text for both, of which each takes what is its own."""
        for daemon, options in (("zebra", ("--vrfwnetns",)), ("bgpd", ())):
            (self._folder / f"{daemon}.conf").write_text(_own(daemon, configuration))
            files = ("-f", str(self._folder / f"{daemon}.conf"), "-i", f"/run/{daemon}.pid")
            sockets = ("--vty_socket", "/run", "-z", "/run/zserv")
            command = (*self._inside, str(self._frr.path(f"usr/lib/frr/{daemon}")), *files, *options, *sockets)
            with (self._folder / f"{daemon}.log").open("wb") as log:
                process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=self._frr.environment)
            self._started.append(process)
            wait(f"{daemon} of {self.name}", Path(f"/proc/{self._started[0].pid}/root/run/{daemon}.vty").exists, bool)

    def ask(self, command: str) -> Any:
        """Return what bgpd answers to a command that answers in JSON."""
        return json.loads(self._say(command) or "{}")

    def configure(self, *lines: str) -> None:
        """Change the configuration of bgpd while it runs."""
        self._say("configure terminal", *lines)

    def _say(self, *commands: str) -> str:
        """Return what bgpd answers to the last of some commands."""
        answer = bytearray()
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(30)
            line.connect(f"/proc/{self._started[0].pid}/root/run/bgpd.vty")
            for one in ("enable", *commands):
                line.sendall(one.encode() + b"\0")
                answer.clear()
                while answer[-4:-1] != _END:
                    answer += line.recv(1 << 16)
                assert answer[-1] == 0, f"{self.name}: {one}: {bytes(answer)!r}"
        return answer[:-4].decode()

    def stop(self) -> None:
        """End all that runs on the machine; its namespaces go with it."""
        for process in reversed(self._started):
            process.terminate()
        for process in self._started:
            with process:  # waits, and closes what it wrote to
                pass


def _own(daemon: str, configuration: str) -> str:
    """Return the blocks that ``daemon`` knows: VRFs with their VNIs are zebra's, all else is bgpd's."""
    blocks = configuration.split("!\n")
    return "!\n".join(block for block in blocks if block.startswith("vrf ") == (daemon == "zebra"))


@contextmanager
def lab(folder: Path) -> Iterator[Callable[[str], Router]]:
    """Yield what makes a machine of a name in ``folder``; all of them end with the block."""
    frr, made = unpacked("frr", _PACKAGES), list[Router]()

    def machine(name: str) -> Router:
        made.append(Router(name, folder, frr))
        return made[-1]

    try:
        yield machine
    finally:
        for one in reversed(made):
            one.stop()


def wait(what: str, look: Callable[[], _Seen], enough: Callable[[_Seen], bool]) -> None:
    """Look until what is seen is enough; it is told when patience ends."""
    patience = Patience(60)
    while not enough(seen := look()):
        assert not patience.is_over(), f"{what}: {seen}"
        time.sleep(0.2)
