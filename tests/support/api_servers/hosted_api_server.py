"""A real API server with the flags, priority levels and memory limit that Jacquard renders for a control plane."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from components.inputs.hosted_control_plane import of_tenant
from components.inputs.slice_inputs import request_priority
from components.lookups.pools import clusters_of
from components.render.control_planes.audit_policy import render_policy
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest
from components.specs.struct import replace
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.api_servers.node_processes import PROXY
from tests.support.data.environment_data import reference
from tests.support.machine.scaled_timeout import ScaledTimeout

_GROUP = "flowcontrol.apiserver.k8s.io/v1"
_METRICS = re.compile(
    r"^(?:apiserver_flowcontrol_(?:(?:rejected|dispatched)_requests_total|current_(?:executing|inqueue)_requests"
    r"|request_wait_duration_seconds_sum|nominal_limit_seats)|process_(?:start_time|cpu)_seconds(?:_total)?)[{ ]"
)
_SETTLED_SECONDS = 60.0
_IN_KAMAJI = ("--enable-admission-plugins=NodeRestriction", "--authorization-mode=Node")
"""Flags of Kamaji (KAMAJI:internal/builders/controlplane/deployment.go, and the default of ``admissionControllers`` of
its Cluster API provider). The server has RBAC already."""


def control_plane(nodes: int) -> tuple[HostedControlPlaneInput, tuple[Manifest, ...]]:
    """Return the control plane of the example with ``nodes`` nodes and a store of logs, and its priority level."""
    environment = reference("laptop")
    tenant = environment.tenants[0]
    plane, placed = next(of_tenant(environment, tenant)), next(iter(clusters_of(tenant)))
    spec = plane.spec.model_copy(update={"oidc": None})
    [priority] = request_priority(environment, placed)
    return replace(plane, nodes=nodes, audited=True, spec=spec), replace(priority, nodes=nodes).render()


class HostedApiServer(LocalApiServer):
    """API server with etcd for a cluster of ``nodes`` nodes; `prioritise` applies the rendered priority level.

    Its etcd syncs writes to the disk.

    Args:
        folder: Folder for all its files.
        nodes: Maximum number of nodes, which determines flags and memory.
        users: Groups of users with a token, by name.
        request_seconds: Timeout of requests, which wait at most a quarter of it in a queue; by default 60 s.
    """

    def __init__(self, folder: Path, nodes: int, users: Mapping[str, str], *, request_seconds: int = 60) -> None:
        folder.mkdir(parents=True)
        plane, self._levels = control_plane(nodes)
        rendered = plane.render()[-1]
        assert isinstance(rendered, Manifest)
        container = rendered.body["spec"]["apiServer"]
        self.memory_limit = int(container["resources"]["limits"]["memory"].removesuffix("Mi")) * 2**20
        self.rendered_flags = tuple(container["extraArgs"])
        [policy] = render_policy(plane)
        (folder / "policy.yaml").write_text(policy.body["data"]["policy.yaml"])
        audit = (f"--audit-policy-file={folder / 'policy.yaml'}", f"--audit-log-path={folder / 'audit.log'}")
        timeout = f"--request-timeout={request_seconds}s"
        flags = {
            "kube-apiserver": (*self.rendered_flags, *audit, timeout, *_IN_KAMAJI),
            "etcd": ("--unsafe-no-fsync=false",),
        }
        super().__init__(folder / "server", kinds=(), flags=flags, users=users)
        self.port = int(urlsplit(self.api.server).port or 0)

    @property
    def process(self) -> int:
        """Return the process id of the API server."""
        return self._processes[1].pid

    def trusting(self) -> ssl.SSLContext:
        """Return the TLS context of a client without a certificate."""
        return ssl.create_default_context(cafile=str(self._certificate))

    def bearer(self, user: str) -> dict[str, str]:
        """Return the header with the token of ``user``."""
        return {"authorization": f"Bearer {self._token_of(user)}"}

    def prioritise(self) -> None:
        """Apply the rendered priority level and wait until the server uses it."""
        for item in self._levels:
            self.api.apply(dict(item.body), field_manager="test")
        self._settle(present=True)

    def forget_priority(self) -> None:
        """Delete the rendered priority level and wait until the server no longer uses it."""
        for item in reversed(self._levels):
            self.api.delete(ObjectRef(_GROUP, item.kind, item.name))
        self._settle(present=False)

    def _settle(self, *, present: bool) -> None:
        [uid] = [
            item["metadata"]["uid"]
            for item in self.api.list(_GROUP, "FlowSchema")
            if item["metadata"]["name"] == "kube-system-service-accounts"
        ]
        patience = ScaledTimeout(_SETTLED_SECONDS)
        while (self.as_user(PROXY, path="/api/v1/nodes")["X-Kubernetes-PF-FlowSchema-UID"] != uid) is not present:
            assert not patience.is_over(), "the server does not use the change of the priority level"
            time.sleep(0.2)

    def metrics(self) -> str:
        """Return the metrics of the server as text."""
        return str(self.api.request("GET", "/metrics", accept="text/plain"))

    def seats(self, text: str) -> dict[str, int]:
        """Return the concurrency of each priority level in seats."""
        return {
            labels["priority_level"]: int(value)
            for name, labels, value in samples(text)
            if name.endswith("nominal_limit_seats")
        }


def samples(text: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    """Yield name, labels and value of the metrics about load and priority."""
    chosen = "\n".join(line for line in text.splitlines() if _METRICS.match(line))
    for family in text_string_to_metric_families(chosen + "\n"):
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value
