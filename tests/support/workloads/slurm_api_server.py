"""An API server with the objects of a Slurm cluster, and Node objects without kubelets."""

from __future__ import annotations

import json
import os
import ssl
from typing import Any

from components.programs.api import Api
from components.programs.slurm_topology import annotate
from components.render import labels as keys
from components.render.workloads.slurm import SlurmInput
from components.render.workloads.slurm_pool import NAMESPACE
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.fake_slurmrestd import FakeSlurmrestd

SECRETS = {"slurm-keys": ("slurm.key", "jwt.key"), "database": ("password",), "users": ("sssd.conf",)}
LEAVES = ("leaf-1", "leaf-2")


class SlurmCluster:
    """An API server with the operator, our objects, and a node for each host of the two pools."""

    def __init__(self, server: LocalApiServer, given: SlurmInput, kinds: list[dict[str, Any]]) -> None:
        self.server, self.api, self.given = server, server.api, given
        names = (f"{pool.spec.name}-{number}" for pool in given.pools for number in range(pool.nodes))
        self.slurmrestd = FakeSlurmrestd(names)
        self.objects = objects_of(given)
        for body in kinds:
            self._apply(body)
        for kind in ("shared-nfs", "shared-vast"):
            self._apply(storage_class(kind))
        for pool in given.pools:
            for number in range(pool.nodes):
                self._node(f"host-{pool.spec.name}-{number}", pool.spec.name, LEAVES[number % 2], pool.spec.taints)
        server.namespace(NAMESPACE)
        for name, fields in SECRETS.items():
            data = dict.fromkeys(fields, os.urandom(64).hex())
            self._apply({"apiVersion": "v1", "kind": "Secret", "metadata": self._named(name), "stringData": data})
        for item in self.objects:
            self._apply(dict(item.body))
        for item in self.objects:
            if item.kind == "PersistentVolumeClaim":
                self._bind(item.name)

    def annotate(self) -> None:
        """Run the program that annotates nodes, with the settings that we render."""
        [config] = [item for item in self.objects if item.name == "slurm-topology-labels" and item.kind == "ConfigMap"]
        entry = json.loads(self.server.kubeconfig.read_text())
        cluster, user = entry["clusters"][0]["cluster"], entry["users"][0]["user"]
        trusted = ssl.create_default_context(cafile=cluster["certificate-authority"])
        login = {"Authorization": f"Bearer {user['token']}"}
        annotate(Api(cluster["server"], login, trusted, "test"), json.loads(config.body["data"]["settings.json"]))

    def get(self, version: str, kind: str, name: str) -> dict[str, Any] | None:
        return self.api.get(ObjectRef(version, kind, name, NAMESPACE))

    def pods(self, pool: str) -> dict[str, dict[str, Any]]:
        """Return the pods of a pool's nodes by name."""
        items = self.api.list("v1", "Pod", namespace=NAMESPACE)
        return {pod["metadata"]["name"]: pod for pod in items if pod["metadata"]["name"].startswith(f"{pool}-")}

    def nodes(self) -> dict[str, dict[str, Any]]:
        return {node["metadata"]["name"]: node for node in self.api.list("v1", "Node")}

    def _bind(self, claim: str) -> None:
        """Bind a claim to a volume, as the CSI driver of its class does; the scheduler waits for it."""
        ref = ObjectRef("v1", "PersistentVolumeClaim", claim, NAMESPACE)
        body = self.api.get(ref) or {}
        spec = {key: body["spec"][key] for key in ("accessModes", "storageClassName")}
        volume = {
            **spec,
            "capacity": body["spec"]["resources"]["requests"],
            "nfs": {"server": "storage.example", "path": "/"},
            "claimRef": {"kind": "PersistentVolumeClaim", "uid": body["metadata"]["uid"], **self._named(claim)},
        }
        self._apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": claim}, "spec": volume})
        done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        self.api.patch(ref, {"metadata": done, "spec": {"volumeName": claim}}, field_manager="test")
        self.api.patch(ref, {"status": {"phase": "Bound"}}, subresource="status", field_manager="test")

    def _named(self, name: str) -> dict[str, str]:
        return {"name": name, "namespace": NAMESPACE}

    def _node(self, name: str, pool: str, leaf: str, taints: Any) -> None:
        labels = {keys.NODE_POOL: pool, keys.LEAF: leaf, "kubernetes.io/os": "linux", "kubernetes.io/hostname": name}
        metadata = {"name": name, "labels": labels}
        tainted = [{"key": item.key, "value": item.value, "effect": item.effect.value} for item in taints]
        body = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": tainted}}
        self._apply(body)
        room = {"cpu": "224", "memory": "2Ti", "pods": "110", "nvidia.com/gpu": "8", "nvidia.com/infiniband": "8"}
        ready = {"type": "Ready", "status": "True", "reason": "Test", "message": ""}
        ref = ObjectRef("v1", "Node", name)
        status = {"status": {"capacity": room, "allocatable": room, "conditions": [ready]}}
        self.api.patch(ref, status, subresource="status", field_manager="test")
        self._apply(body)  # Without the taint that new nodes have until they are ready

    def _apply(self, body: dict[str, Any]) -> None:
        self.api.apply(body, field_manager="test", force=True)


def storage_class(name: str) -> dict[str, Any]:
    provisioner = {"provisioner": "test.example", "volumeBindingMode": "WaitForFirstConsumer"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, **provisioner}
