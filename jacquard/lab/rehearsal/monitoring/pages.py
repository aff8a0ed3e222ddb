"""Metrics of the programs of a region, which run on ports of this machine."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from jacquard.lab.rehearsal import manager, ports, processes
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring.observed import Apis
from jacquard.lab.rehearsal.monitoring.targets import ADDRESSES, ETCD, NAMES, Program
from jacquard.lab.rehearsal.operators.view import account_token
from jacquard.lab.rehearsal.region import Region

_OPTIONS = {
    ETCD: "--listen-client-urls=",
    "kube-controller-manager": "--secure-port=",
    "kube-scheduler": "--secure-port=",
    manager.NAME: "--diagnostics-address=",
    NAMES: "--metrics-address=",
    ADDRESSES: "--port=",
}
"""Options with the address of the metrics: a URL, an address for HTTP, or a port for TLS."""
_REVIEWING = (ADDRESSES,)
"""Programs that serve metrics to accounts with the permission; the others serve them to all."""
_SPACE, _ACCOUNT = "kube-system", "local-region-metrics"
_OBJECTS = (
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _ACCOUNT, "namespace": _SPACE}},
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _ACCOUNT},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:monitoring"},
        "subjects": [{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": _SPACE}],
    },
)
"""Account that stands for that of Prometheus, which the chart creates."""
_KUBECONFIG = "--kubeconfig="
_SECONDS, _TOKEN_SECONDS = 10, 365 * 86400


class Pages:
    """Pages with the metrics of programs."""

    def __init__(self, region: Region, apis: Apis) -> None:
        """Create the pages; ``apis`` are the clients with which accounts are created."""
        self._region, self._apis = region, apis
        self._tokens: dict[str, str] = {}
        self._opener = _opener()

    def __call__(self, program: Program) -> str:
        """Return the metrics of a program.

        Raises:
            RehearsalError: the program does not run.
            ApiError: the API server does not respond.
            OSError: the program does not respond, or rejects the request.
        """
        cluster, _, name = program.part.rpartition("/")
        request = Request(f"{_url(_address(self._region, program, _OPTIONS[name]))}/metrics")  # noqa: S310
        if name in _REVIEWING:
            request.add_header("Authorization", f"Bearer {self._token(cluster)}")
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                return str(answer.read().decode())
        except HTTPError:
            # The account may be that of a former cluster with this name.
            self._tokens.pop(cluster, None)
            raise

    def _token(self, cluster: str) -> str:
        if cluster not in self._tokens:
            api = self._apis.of(cluster)
            for body in _OBJECTS:
                api.apply(body, field_manager="rehearsal-monitoring")
            self._tokens[cluster] = account_token(api, _SPACE, _ACCOUNT, seconds=_TOKEN_SECONDS)
        return self._tokens[cluster]


def _address(region: Region, program: Program, option: str) -> str:
    for process in processes.running(region.folder):
        if process.part == program.part and program.pod in ("", _pod(process.arguments)):
            return next(text.removeprefix(option) for text in process.arguments if text.startswith(option))
    msg = f"{program.part}{f' of pod {program.pod}' if program.pod else ''}: not running"
    raise RehearsalError(msg)


def _url(address: str) -> str:
    if address.startswith("http"):
        return address
    return f"https://{ports.LOOPBACK}:{address}" if address.isdigit() else f"http://{address}"


def _opener() -> OpenerDirector:
    """Return an opener without proxy. The programs sign their certificates themselves, and run on this machine."""
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without the CAs of the machine
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    return build_opener(ProxyHandler({}), HTTPSHandler(context=unverified))


def _pod(arguments: tuple[str, ...]) -> str:
    """Return the pod of a program, from the folder of its kubeconfig."""
    path = next((text.removeprefix(_KUBECONFIG) for text in arguments if text.startswith(_KUBECONFIG)), "")
    return "/".join(Path(path).parts[-3:-1])
