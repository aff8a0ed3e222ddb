"""The real operator of VictoriaMetrics at a real API server, and real stores with the arguments that it writes.

No container runs: the programs run on this machine, with its addresses and folders in their arguments. One process of
VictoriaMetrics stands for the three programs of its cluster version, which no Go module provides; labels, queries and
remote write are the same code in both. Its paths are those of the cluster version in the configuration of the proxy.
"""

from __future__ import annotations

import base64
import gzip
import re
import ssl
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import yaml

from components.render.manifest import Manifest
from components.render.objects import SERVICES_PRIORITY
from components.render.region.stores.store_certificates import SERVER_SECRET
from jacquard.lab.rehearsal import crds, ports
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs
from tests.support.monitoring.store_authority import StoreAuthority

NAMESPACE = "metrics"
_PROGRAMS = ("vmoperator", "vmauth", "victoria-metrics", "victoria-logs")
_CRDS = "config/crd/overlay/crd.descriptionless.yaml"
_CONVERTED = "PodMonitor,ServiceMonitor,PrometheusRule,Probe,AlertmanagerConfig,ScrapeConfig"
"""Kinds of prometheus-operator, which the values of the chart leave alone."""
_WORKLOADS = (("apps/v1", "StatefulSet"), ("apps/v1", "Deployment"))
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Response:
    """A response of an HTTP server."""

    status: int
    text: str


def request(
    url: str,
    body: bytes | None = None,
    *,
    login: tuple[str, str] | None = None,
    trust: ssl.SSLContext | None = None,
    **headers: str,
) -> Response:
    """Send a request; a body makes it a POST. Underscores in the names of headers are hyphens."""
    sent = Request(url, body, {name.replace("_", "-"): value for name, value in headers.items()})  # noqa: S310
    if login is not None:
        sent.add_header("Authorization", basic(login))
    try:
        with urlopen(sent, timeout=30, context=trust) as answer:  # noqa: S310
            return Response(answer.status, answer.read().decode())
    except HTTPError as error:
        return Response(error.code, error.read().decode(errors="replace"))


def basic(login: tuple[str, str]) -> str:
    """Return the header ``Authorization`` for a user name and a password."""
    return "Basic " + base64.b64encode(":".join(login).encode()).decode()


class VictoriaStores:
    """The operator, its objects, and the programs of both stores behind the proxy; `stop` ends all of them.

    Args:
        folder: Where they keep everything.
        objects: Objects that the operator reads, and Certificates of the proxy.
        flags: Further flags of the API server of the management cluster.

    Raises:
        ToolchainError: the programs are not built.
    """

    def __init__(self, folder: Path, objects: Iterable[Manifest], *, flags: Collection[str] = ()) -> None:
        every = tuple(objects)
        self._folder = folder
        self._objects = tuple(item for item in every if item.kind != "Certificate")
        self._paths = {name: str(binaries.path(name)) for name in _PROGRAMS}
        self._programs = Programs(folder)
        certificates = (item for item in every if item.kind == "Certificate")
        self.authority = StoreAuthority(folder / "authority", certificates)
        self._trust = self.authority.trust(self.authority.certificate)
        definitions = binaries.data("victoria-metrics-crds") / _CRDS
        controllers = ("statefulset-controller", "deployment-controller", "replicaset-controller")
        self.server = LocalApiServer(folder / "api", kinds=(), controllers=controllers, flags={"kube-apiserver": flags})
        try:
            with definitions.open() as file:
                found = [crds.prepared(crd) for crd in yaml.load_all(file, crds.Loader) if crd]
            crds.install(self.server.api, found)
            priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
            self.server.api.apply({**priority, "metadata": {"name": SERVICES_PRIORITY}}, field_manager="test")
            for namespace in sorted({str(item.namespace) for item in self._objects}):
                self.server.namespace(namespace)
            self._operate()
            self._serve()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all processes."""
        self._programs.stop()
        self.server.stop()

    def kill(self, name: str) -> None:
        """End a program at once."""
        self._programs.kill(name)

    def get(self, version: str, kind: str, name: str, namespace: str = NAMESPACE) -> dict[str, Any]:
        return self.server.api.get(ObjectRef(version, kind, name, namespace)) or {}

    def report(self, item: Manifest) -> dict[str, Any]:
        """Return the status of an object."""
        return self.get(item.api_version, item.kind, item.name, str(item.namespace)).get("status") or {}

    def pod(self, workload: str) -> dict[str, Any]:
        """Return the spec of the pods of a StatefulSet or Deployment that the operator wrote."""
        [found] = [body for body in self._workloads() if body["metadata"]["name"] == workload]
        spec: dict[str, Any] = found["spec"]["template"]["spec"]
        return spec

    def arguments(self, workload: str) -> list[str]:
        """Return the arguments that the operator wrote for a StatefulSet or Deployment."""
        arguments: list[str] = self.pod(workload)["containers"][0]["args"]
        return arguments

    def ask(self, path: str, body: bytes | None = None, **further: Any) -> Response:
        """Send a request to the proxy, as a client does that has the certificate of the CA."""
        return request(self.url + path, body, trust=self._trust, **further)

    def first_line(self, path: str, *, login: tuple[str, str], seconds: float) -> str:
        """Return the first line of a response that does not end; empty if none arrives in time."""
        sent = Request(self.url + path, headers={"Authorization": basic(login)})  # noqa: S310
        with suppress(TimeoutError), urlopen(sent, timeout=seconds, context=self._trust) as answer:  # noqa: S310
            return str(answer.readline().decode())
        return ""

    def start(self, name: str) -> None:
        """Start a program of the stores or the proxy, also again after `kill`."""
        program, arguments, address = self._commands[name]
        self._programs.start(name, self._paths[program], *arguments)
        trust = self._trust if program == "vmauth" else None
        wait_until(lambda: is_healthy(address, trust), timeout_seconds=60, what=f"{name} is healthy")

    def login(self, cluster: str) -> tuple[str, str]:
        """Return user name and password of a cluster."""
        return self.login_of(f"{cluster}-metrics", cluster)

    def login_of(self, user: str, namespace: str) -> tuple[str, str]:
        """Return user name and password of a VMUser."""
        data = self.get("v1", "Secret", f"vmuser-{user}", namespace)["data"]
        name, password = (base64.b64decode(data[key]).decode() for key in ("username", "password"))
        return name, password

    def proxy_configuration(self) -> str:
        """Return the configuration of the proxy that the operator wrote; empty before."""
        data = self.get("v1", "Secret", "vmauth-config-metrics").get("data") or {}
        packed = base64.b64decode(data.get("config.yaml.gz", ""))
        return gzip.decompress(packed).decode() if packed else ""

    def _operate(self) -> None:
        metrics, health = ports.free(2)
        arguments = [
            f"-metrics-bind-address={ports.LOOPBACK}:{metrics}",
            f"-health-probe-bind-address={ports.LOOPBACK}:{health}",
            "-pprof-addr=",
            f"-controller.disableReconcileFor={_CONVERTED}",
        ]
        self._programs.start(
            "vmoperator", self._paths["vmoperator"], *arguments, KUBECONFIG=str(self.server.kubeconfig)
        )
        for item in self._objects:
            self.server.api.apply(dict(item.body), field_manager="test")
        users = {str(item.body["spec"]["username"]) for item in self._objects if item.kind == "VMUser"}

        def operational() -> bool:
            self._make_ready()
            written = self.proxy_configuration()
            reported = all(self.report(item).get("updateStatus") == "operational" for item in self._objects)
            return reported and all(f"username: {user}\n" in written for user in users)

        wait_until(operational, timeout_seconds=_START_SECONDS, what="the operator reports all objects as operational")

    def _make_ready(self) -> None:
        """Report all pods as ready, as kubelets do."""
        for pod in self.server.api.list("v1", "Pod"):
            if (pod.get("status") or {}).get("phase") != "Running":
                ref = ObjectRef("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
                status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
                self.server.api.patch(ref, status, subresource="status", field_manager="kubelet")

    def _workloads(self) -> Iterator[dict[str, Any]]:
        for version, kind in _WORKLOADS:
            for body in self.server.api.list(version, kind):
                yield {"apiVersion": version, "kind": kind, **body}

    def _serve(self) -> None:
        [store] = [item for item in self._objects if item.kind == "VLCluster"]
        storage = store.body["spec"]["vlstorage"]["replicaCount"]
        names = ["victoria-metrics", *(f"vlstorage-{index}" for index in range(storage)), "vlinsert", "vlselect"]
        found = dict(zip((*names, "vmauth-metrics", "internal"), ports.free(len(names) + 2), strict=True))
        address = {name: f"{ports.LOOPBACK}:{port}" for name, port in found.items()}
        nodes = {f"vlstorage-logs-{index}": f"vlstorage-{index}" for index in range(storage)}

        def local(text: str, listening: str) -> str:
            """Replace addresses and folders of pods in an argument."""
            text = re.sub(r"(vlstorage-logs-\d+)\.[\w.-]+:\d+", lambda node: address[nodes[node[1]]], text)
            text = re.sub(r"^(-storageDataPath)=.*", rf"\1={self._folder / listening}", text)
            text = re.sub(r"^(-httpInternalListenAddr)=.*", rf"\1={address['internal']}", text)
            text = text.replace(f"/etc/vm/secrets/{SERVER_SECRET}/", f"{self.authority.secret}/")
            text = re.sub(r"^(-auth.config)=.*", rf"\1={self._folder / 'proxy.yaml'}", text)
            return re.sub(r"^(-httpListenAddr)=.*", rf"\1={address[listening]}", text)

        def command(program: str, workload: str, name: str, port: str = "") -> tuple[str, list[str], str]:
            """Return program, arguments and the address with ``/health``, on another port than that of requests."""
            return program, [local(text, name) for text in self.arguments(workload)], address[port or name]

        metrics = [f"-httpListenAddr={address['victoria-metrics']}", f"-storageDataPath={self._folder / 'metrics'}"]
        # New samples are read at once, and series end soon after their last samples.
        metrics += ["-search.latencyOffset=0s", "-search.maxStalenessInterval=15s", "-inmemoryDataFlushInterval=1s"]
        self._commands = {
            "victoria-metrics": ("victoria-metrics", metrics, address["victoria-metrics"]),
            **{name: command("victoria-logs", "vlstorage-logs", name) for name in nodes.values()},
            "vlinsert": command("victoria-logs", "vlinsert-logs", "vlinsert"),
            "vlselect": command("victoria-logs", "vlselect-logs", "vlselect"),
            "vmauth-metrics": command("vmauth", "vmauth-metrics", "vmauth-metrics", "internal"),
        }
        self.url = f"https://{address['vmauth-metrics']}"
        """Address of the proxy."""
        self.store_url = f"http://{address['victoria-metrics']}"
        """Address of the store of metrics, which only programs of the management cluster reach."""
        self.select_url = f"http://{address['vlselect']}"
        """Address of queries of all logs, which only programs of the management cluster reach."""
        written = self.proxy_configuration()
        for pattern, name in (
            (r"http://vminsert-metrics[\w.-]+:\d+/insert/0/prometheus", "victoria-metrics"),
            (r"http://vmselect-metrics[\w.-]+:\d+/select/0/prometheus", "victoria-metrics"),
            (r"http://vlinsert-logs[\w.-]+:\d+", "vlinsert"),
            (r"http://vlselect-logs[\w.-]+:\d+", "vlselect"),
        ):
            written, replaced = re.subn(pattern, f"http://{address[name]}", written)
            assert replaced, f"no target {pattern} in the configuration of the proxy"
        (self._folder / "proxy.yaml").write_text(written)
        for name in self._commands:
            self.start(name)


def is_healthy(address: str, trust: ssl.SSLContext | None = None) -> bool:
    """Return whether a program of VictoriaMetrics at an address is ready for requests, with TLS if ``trust`` is set."""
    with suppress(URLError, OSError):
        return request(f"{'https' if trust else 'http'}://{address}/health", trust=trust).status == 200
    return False


@contextmanager
def running_stores(
    folder: Path, objects: Iterable[Manifest], *, flags: Collection[str] = ()
) -> Iterator[VictoriaStores]:
    """Run the stores; a test is skipped if they are not built."""
    try:
        stores = VictoriaStores(folder, objects, flags=flags)
    except ToolchainError as error:
        pytest.skip(f"NO STORES: {error}; make test-nightly builds them")
    try:
        yield stores
    finally:
        stores.stop()
