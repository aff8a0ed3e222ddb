"""LeaderWorkerSet's real controller and Kubernetes' scheduler at an API server, with some racks of a cluster.

The controller is installed as Flux installs it: its kinds, webhooks and configuration are from the pinned chart, with
our values and post-renderers. Its webhook service is a name for this machine, and it makes its certificates itself.
Nodes exist as objects with the labels that Metal3 copies from hosts. No kubelet runs, so pods get a node but never
start.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml
from api_server import LocalApiServer
from helm_charts import Helm
from local_region import wait_until
from programs import Programs
from rendered_objects import objects_of

from components.inputs.queues import queued_pool
from components.lookups import add_ons
from components.lookups.pools import PlacedCluster
from components.render import labels as keys
from components.render.workloads.serving import CHART
from components.specs.environment import Environment
from components.specs.keys import pool_key
from jacquard.lab.rehearsal import crds, ports
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ObjectRef

_NAMESPACE, _SERVICE, _SECRET = "lws-system", "lws-webhook-service", "lws-webhook-server-cert"
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_START_SECONDS = 180


class LwsCluster:
    """A cluster with the webhooks of LeaderWorkerSet, nodes and a scheduler; `start` runs the controller.

    Raises:
        ToolchainError: the controller or the scheduler is not built.
    """

    def __init__(self, folder: Path, environment: Environment, placed: PlacedCluster) -> None:
        self._folder, self._environment, self._placed = folder, environment, placed
        self._manager, scheduler = binaries.path("lws-manager"), binaries.path("kube-scheduler")
        self._programs = Programs(folder)
        # Nodes of a real cluster lose the taint of new nodes when their kubelet reports.
        flags = {"kube-apiserver": ["--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"]}
        self._server = LocalApiServer(folder / "api", kinds=(), controllers=("statefulset-controller",), flags=flags)
        self.api = self._server.api
        try:
            self._install(self._chart())
            config = f"--kubeconfig={self._server.kubeconfig}"
            self._programs.start("kube-scheduler", str(scheduler), config, "--leader-elect=false", "--secure-port=0")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all programs."""
        self._programs.stop()
        self._server.stop()

    def start(self) -> None:
        """Run the controller, and write the certificates that it creates to files, as a kubelet does."""
        arguments = (f"--config={self._configuration}", "--zap-log-level=2")
        self._programs.start("lws", str(self._manager), *arguments, f"--kubeconfig={self._server.kubeconfig}")
        ref, folder = ObjectRef("v1", "Secret", _SECRET, _NAMESPACE), self._folder / "certificates"
        wait_until(
            lambda: "tls.crt" in ((self.api.get(ref) or {}).get("data") or {}),
            timeout_seconds=_START_SECONDS,
            what=f"the controller has created its certificates; see {self._folder}",
        )
        folder.mkdir()
        for name, content in ((self.api.get(ref) or {})["data"]).items():
            (folder / name).write_bytes(base64.b64decode(content))

    def add_nodes(self, pool: str, racks: Iterable[str]) -> None:
        """Create a node for each host of ``pool`` in ``racks``."""
        cluster, chosen = self._placed.cluster, set(racks)
        [spec] = [item for item in cluster.pools if item.name == pool]
        kind = queued_pool(self._environment, cluster.name, spec)
        owners = self._environment.allocations.hosts
        room = {"cpu": str(kind.cpus), "memory": f"{kind.mebibytes}Mi", "pods": "110"}
        room |= {kind.gpus[0]: str(kind.gpus[1])} if kind.gpus else {}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
        for host in self._environment.hosts:
            if host.rack in chosen and owners.get(host.host) == pool_key(cluster.name, pool):
                labels = {
                    keys.NODE_POOL: pool,
                    keys.RACK: host.rack,
                    keys.LEAF: host.leaf,
                    "kubernetes.io/hostname": host.host,
                }
                taints = [{"key": one.key, "value": one.value, "effect": one.effect.value} for one in kind.taints]
                body = {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": host.host, "labels": labels},
                    "spec": {"taints": taints},
                    "status": {"capacity": room, "allocatable": room, "conditions": [ready]},
                }
                self.api.create(body, field_manager="test")

    def pods(self, namespace: str, labels: dict[str, str]) -> list[dict[str, Any]]:
        """Return the pods of ``namespace`` with all ``labels``, by name."""
        listed = self.api.list("v1", "Pod", namespace=namespace)
        chosen = [pod for pod in listed if labels.items() <= pod["metadata"]["labels"].items()]
        return sorted(chosen, key=lambda pod: pod["metadata"]["name"])

    def rack(self, pod: dict[str, Any]) -> str | None:
        """Return the rack of the node of ``pod``; None before it has a node."""
        name = pod["spec"].get("nodeName")
        node = self.api.get(ObjectRef("v1", "Node", name)) if name else None
        return node["metadata"]["labels"][keys.RACK] if node else None

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until ``condition`` is true."""
        wait_until(condition, timeout_seconds=_START_SECONDS, what=f"{what}; see {self._folder}")

    def _chart(self) -> list[dict[str, Any]]:
        """Return the objects of the chart, as Flux applies them."""
        [given] = add_ons.of_cluster(self._environment, self._placed)
        releases = [item for item in objects_of(given) if item.kind == "HelmRelease"]
        [release] = [item for item in releases if item.body["spec"]["chartRef"]["name"] == CHART]
        return Helm(self._folder / "helm", self._environment.versions.kubernetes[-1]).installed(release)

    def _install(self, chart: list[dict[str, Any]]) -> None:
        """Apply the parts of the chart that act without pods, with the webhooks' service at a port of this machine."""
        [port, health, metrics] = ports.free(3)
        self._server.namespace(_NAMESPACE)
        for hook in (hook for body in chart if body["kind"] in _WEBHOOKS for hook in body["webhooks"]):
            hook["clientConfig"]["service"]["port"] = port
        crds.install(self.api, [body for body in chart if body["kind"] == "CustomResourceDefinition"])
        for body in chart:
            if body["kind"] in _WEBHOOKS or (body["kind"], body["metadata"]["name"]) == ("Secret", _SECRET):
                self.api.apply(body, field_manager="helm", force=True)
        metadata = {"name": _SERVICE, "namespace": _NAMESPACE}
        spec = {"type": "ExternalName", "externalName": ports.LOOPBACK}
        service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
        self.api.apply(service, field_manager="test")
        [config] = [body for body in chart if body["kind"] == "ConfigMap"]
        settings = yaml.safe_load(config["data"]["controller_manager_config.yaml"]) | {
            "webhook": {"host": ports.LOOPBACK, "port": port, "certDir": str(self._folder / "certificates")},
            "health": {"healthProbeBindAddress": f"{ports.LOOPBACK}:{health}"},
            "metrics": {"bindAddress": f"{ports.LOOPBACK}:{metrics}"},
            "leaderElection": {"leaderElect": False},
        }
        self._configuration = self._folder / "configuration.yaml"
        self._configuration.write_text(yaml.safe_dump(settings), encoding="utf-8")
