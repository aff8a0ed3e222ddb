"""An API server with the kinds of Cluster API, and optionally its real controller, without a region."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.render.manifest import Manifest
from components.render.objects import manifest, namespace
from jacquard.lab.rehearsal import crds, manager, processes
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from tests.support.api_servers.api_server import LocalApiServer

CLUSTER_API = "cluster.x-k8s.io/v1beta2"


class ManagementCluster:
    """A management cluster without controllers, except those that a test starts."""

    def __init__(self, region: Region) -> None:
        self._region = region
        groups = {crd["spec"]["names"]["kind"]: crd["spec"]["group"] for crd in crds.definitions(MANAGEMENT)}
        kinds = [kind for kind, group in groups.items() if group.endswith("cluster.x-k8s.io")]
        kubeconfig = region.kubeconfig(MANAGEMENT)
        kubeconfig.parent.mkdir(parents=True)
        self.server = LocalApiServer(region.folder / "server", kinds=kinds, kubeconfig=kubeconfig)
        self.api = self.server.api

    @contextmanager
    def controller(self, *, webhooks: bool) -> Iterator[None]:
        """Run Cluster API's controller; its webhooks stay registered afterwards."""
        if webhooks:  # Webhooks need a certificate for this machine; the API server has created one.
            keys = self._region.cluster_folder(MANAGEMENT) / "pki"
            keys.mkdir(parents=True)
            for name, own in {
                "ca.crt": "apiserver.crt",
                "admin.crt": "apiserver.crt",
                "admin.key": "apiserver.key",
            }.items():
                shutil.copy(self.server.folder / "certificates" / own, keys / name)
        manager.ensure(self._region, print, webhooks=webhooks)
        try:
            yield
        finally:
            processes.kill(processes.running(self._region.folder))


@contextmanager
def management_cluster(home: Path) -> Iterator[ManagementCluster]:
    """Run a management cluster in ``home``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JACQUARD_HOME", str(home))
        cluster = ManagementCluster(Region.of("management-only"))
        try:
            yield cluster
        finally:
            cluster.server.stop()


def bare_cluster(name: str) -> tuple[Manifest, Manifest]:
    """Return a namespace and in it a Cluster of that name, whose Machines never become ready."""
    hardware = {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3Cluster", "name": name}
    spec = {"clusterNetwork": {"serviceDomain": "cluster.local"}, "infrastructureRef": hardware}
    return namespace(name), manifest(CLUSTER_API, "Cluster", name, namespace=name, spec=spec)
