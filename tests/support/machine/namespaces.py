"""Network namespaces of this machine that represent separate machines."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import pytest


class Namespace:
    """A network namespace that exists as long as its process; skip the test if none can be created.

    Args:
        setup: Shell commands that run in it first.
        mounts: Whether it also has its own mount namespace.
    """

    def __init__(self, setup: str = "true", *, mounts: bool = False) -> None:
        own = ("--net", "--mount") if mounts else ("--net",)
        boot = f"{setup} && ip link set lo up && echo up && exec sleep infinity"
        self._keeper = subprocess.Popen(
            ("unshare", *own, "sh", "-c", boot), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.pid = str(self._keeper.pid)
        self._inside = ("nsenter", f"--target={self.pid}", *own)
        assert self._keeper.stdout is not None
        if (answer := self._keeper.stdout.readline()) != b"up\n":
            self.close()
            pytest.skip(f"NO NAMESPACES: a network is made by root alone: {answer.decode().strip()}")

    def command(self, *words: str) -> tuple[str, ...]:
        """Return the command that runs ``words`` in the namespace."""
        return (*self._inside, *words)

    def run(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program in the namespace."""
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False, env=environment)

    def ip(self, text: str, vrf: str | None = None) -> None:
        """Run one iproute2 command in the namespace, or in one of its VRFs."""
        done = self.run("ip", *(("-n", vrf) if vrf else ()), *text.split())
        assert done.returncode == 0, f"ip {text}: {done.stderr}"

    def link(self, port: str, other: Namespace, other_port: str) -> None:
        """Create a veth pair between two ports."""
        self.ip(f"link add name {port} type veth peer name {other_port} netns {other.pid}")
        self.ip(f"link set {port} up")
        other.ip(f"link set {other_port} up")

    def close(self) -> None:
        """Delete the namespace."""
        self._keeper.terminate()
        self._keeper.communicate()
