"""Metrics of the programs of a region, which run on ports of this machine."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

from jacquard.lab.rehearsal import manager, ports, processes
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring.targets import ETCD, Program
from jacquard.lab.rehearsal.region import Region

_OPTIONS = {
    ETCD: "--listen-client-urls=",
    "kube-controller-manager": "--secure-port=",
    "kube-scheduler": "--secure-port=",
    manager.NAME: "--diagnostics-address=",
    "external-dns": "--metrics-address=",
}
"""Options with the address of the metrics: a URL, an address for HTTP, or a port for TLS."""
_KUBECONFIG = "--kubeconfig="
_SECONDS = 10


def read(region: Region, program: Program) -> str:
    """Return the metrics of a program.

    Raises:
        RehearsalError: the program does not run.
        OSError: it does not respond.
    """
    option = _OPTIONS[program.part.rpartition("/")[2]]
    for process in processes.running(region.folder):
        if process.part == program.part and program.pod in ("", _pod(process.arguments)):
            address = next(text.removeprefix(option) for text in process.arguments if text.startswith(option))
            # The programs sign their certificates themselves, and both ends are on this machine.
            unverified = ssl.create_default_context()
            unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
            opener = build_opener(ProxyHandler({}), HTTPSHandler(context=unverified))
            with opener.open(f"{_url(address)}/metrics", timeout=_SECONDS) as answer:
                return str(answer.read().decode())
    msg = f"{program.part}{f' of pod {program.pod}' if program.pod else ''}: not running"
    raise RehearsalError(msg)


def _url(address: str) -> str:
    if address.startswith("http"):
        return address
    return f"https://{ports.LOOPBACK}:{address}" if address.isdigit() else f"http://{address}"


def _pod(arguments: tuple[str, ...]) -> str:
    """Return the pod of a program, from the folder of its kubeconfig."""
    path = next((text.removeprefix(_KUBECONFIG) for text in arguments if text.startswith(_KUBECONFIG)), "")
    return "/".join(Path(path).parts[-3:-1])
