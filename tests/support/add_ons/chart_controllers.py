"""A chart's controller, run as a program at an API server and installed as Flux installs it, and nodes for it.

Its kinds, webhooks and configuration are from the pinned chart, with our values and post-renderers. Its webhook service
resolves to this machine, and it creates its certificates itself. Nodes exist as objects with the labels that Metal3
copies from hosts. No kubelet runs, so pods get a node but never start.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.inputs import add_ons
from components.lookups.pools import PlacedCluster
from components.render import labels as keys
from components.render.workloads.queues import QueuedPool
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from jacquard.lab.rehearsal import crds, ports
from jacquard.providers.kube import ObjectRef
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.local_regions.local_region import wait_until
from tests.support.objects.rendered_objects import objects_of

FLAGS = {"kube-apiserver": ["--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"]}
"""Flags of the API server. New nodes get no taint, since no kubelet runs that would report and so remove it."""
START_SECONDS = 180
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_CONFIGURATION = "controller_manager_config.yaml"


@dataclass(frozen=True, kw_only=True)
class ChartController:
    """Names of a controller in its chart, and its address."""

    chart: str
    namespace: str
    service: str
    """Service of its webhooks."""
    secret: str
    """Secret with the certificates that it creates."""
    folder: Path
    server: LocalApiServer

    @property
    def configuration(self) -> Path:
        """Return its configuration after installation."""
        return self.folder / "configuration.yaml"

    def install(self, environment: Environment, placed: PlacedCluster) -> int:
        """Apply the objects of the chart except its pods; return the port of its metrics.

        The webhook service points to a port of this machine.
        """
        chart, api = self._rendered(environment, placed), self.server.api
        [port, health, metrics] = ports.free(3)
        self.server.namespace(self.namespace)
        for client in (client for body in chart for client in _clients(body)):
            client["service"]["port"] = port
        crds.install(api, [body for body in chart if body["kind"] == "CustomResourceDefinition"])
        for body in chart:
            if body["kind"] in _WEBHOOKS or (body["kind"], body["metadata"]["name"]) == ("Secret", self.secret):
                api.apply(body, field_manager="helm", force=True)
        metadata = {"name": self.service, "namespace": self.namespace}
        spec = {"type": "ExternalName", "externalName": ports.LOOPBACK}
        api.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}, field_manager="test")
        [config] = [body for body in chart if body["kind"] == "ConfigMap" and _CONFIGURATION in body["data"]]
        settings = yaml.safe_load(config["data"][_CONFIGURATION]) | {
            "webhook": {"host": ports.LOOPBACK, "port": port, "certDir": str(self._certificates)},
            "health": {"healthProbeBindAddress": f"{ports.LOOPBACK}:{health}"},
            "metrics": {"bindAddress": f"{ports.LOOPBACK}:{metrics}"},
            "leaderElection": {"leaderElect": False},
        }
        self.configuration.write_text(yaml.safe_dump(settings), encoding="utf-8")
        return metrics

    def mount_certificates(self) -> None:
        """Write the certificates that the controller creates to files, as a kubelet does."""
        ref = ObjectRef("v1", "Secret", self.secret, self.namespace)
        wait_until(
            lambda: "tls.crt" in ((self.server.api.get(ref) or {}).get("data") or {}),
            timeout_seconds=START_SECONDS,
            what=f"{self.chart} has created its certificates; see {self.folder}",
        )
        self._certificates.mkdir()
        for name, content in ((self.server.api.get(ref) or {})["data"]).items():
            (self._certificates / name).write_bytes(base64.b64decode(content))

    @property
    def _certificates(self) -> Path:
        return self.folder / "certificates"

    def _rendered(self, environment: Environment, placed: PlacedCluster) -> list[dict[str, Any]]:
        """Return the objects of the chart as Flux applies them."""
        [given] = add_ons.of_cluster(environment, placed)
        releases = [item for item in objects_of(given) if item.kind == "HelmRelease"]
        [release] = [item for item in releases if item.body["spec"]["chartRef"]["name"] == self.chart]
        return Helm(self.folder / "helm", environment.versions.kubernetes[-1]).installed(release)


def node(host: HostSpec, pool: QueuedPool) -> dict[str, Any]:
    """Return the Node of ``host``, which belongs to ``pool``."""
    labels = {
        keys.NODE_POOL: pool.name,
        keys.RACK: host.rack,
        keys.LEAF: host.leaf,
        "kubernetes.io/hostname": host.host,
    }
    taints = [{"key": taint.key, "value": taint.value, "effect": taint.effect.value} for taint in pool.taints]
    room = {"cpu": str(pool.cpus), "memory": f"{pool.mebibytes}Mi", "pods": "110"}
    room |= {pool.gpus[0]: str(pool.gpus[1])} if pool.gpus else {}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": host.host, "labels": labels},
        "spec": {"taints": taints},
        "status": {"capacity": room, "allocatable": room, "conditions": [ready]},
    }


def _clients(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the client configurations by which the API server calls the webhooks of an object."""
    if body["kind"] in _WEBHOOKS:
        yield from (hook["clientConfig"] for hook in body["webhooks"])
    elif conversion := body.get("spec", {}).get("conversion", {}).get("webhook"):
        yield conversion["clientConfig"]
