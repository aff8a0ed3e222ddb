"""Pods whose images simulated kubelets pull, the registries, and DPUs on the path to them."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any, TypeAlias

import yaml

from jacquard.lab.rehearsal.images import ImageName
from jacquard.lab.rehearsal.operators.pulls.kubelets import Kubelets
from jacquard.lab.rehearsal.operators.pulls.upstream import Refused
from tests.support.objects.live_objects import obj

Rule: TypeAlias = tuple[str, str, Any]
"""Destination, action, and TCP ports or None."""
CILIUM = "quay.io/cilium/cilium:v1.20.0"
DIGEST = f"sha256:{'a' * 64}"
MIRROR = "registry.example"
URL = "https://quay.io/v2/cilium/cilium/manifests/v1.20.0"
HOSTS = f'[host."https://{MIRROR}"]\n  capabilities = ["pull", "resolve"]\n'
DEPLOYMENT = {"svc.dpu.nvidia.com/owned-by-dpudeployment": "dpf_acme"}
RULES: list[Rule] = [
    ("{{ ipaddresses.ip_host.ip }}/32", "deny", None),
    ("10.3.0.9/32", "permit", {"443": {}}),
    ("0.0.0.0/0", "deny", None),
]


class Registries:
    """Registries outside the region with equal images; some addresses have DNS names."""

    def __init__(self, *images: str, **names: str) -> None:
        self.images = {str(ImageName.of(image)) for image in images}
        self.names = names
        self.asked: list[str] = []
        self.refused = ""

    def digest(self, image: ImageName, url: str) -> str | None:
        self.asked.append(url)
        if self.refused:
            raise Refused(self.refused)
        return DIGEST if str(image) in self.images else None

    def address(self, name: str) -> Any:
        return IPv4Address(self.names[name]) if name in self.names else None


def node(name: str = "n1", **annotations: str) -> Any:
    given = annotations or {"kwok.x-k8s.io/node": "fake"}
    return obj("v1", "Node", name, namespace="", metadata={"annotations": given})


def pod(*images: str, on: str = "n1", name: str = "agent", **container: Any) -> Any:
    containers = [{"name": f"c{number}", "image": image, **container} for number, image in enumerate(images)]
    return obj("v1", "Pod", name, {"nodeName": on, "containers": containers}, status={"phase": "Pending"})


def waiting(view: Any, number: int = 0, name: str = "agent", of: str = "containerStatuses") -> tuple[str, str]:
    state = view.get("Pod", name, "ns")["status"][of][number]["state"]["waiting"]
    return state["reason"], state.get("message", "")


def events(view: Any) -> list[tuple[str, str, str]]:
    return [(one["type"], one["reason"], one["message"]) for one in view.all("v1", "Event")]


def startup(rules: list[Rule], states: tuple[str, ...] = ()) -> str:
    tracked = {"conntrack": {state: {} for state in states}} if states else {}
    listed = {
        str(10 * number): {
            "match": {
                "ip": {"dest-ip": to, **({"protocol": "tcp", "tcp": {"dest-port": ports}} if ports else {})},
                **tracked,
            },
            "action": {action: {}},
        }
        for number, (to, action, ports) in enumerate(rules, start=1)
    }
    port: dict[str, Any] = {"ip": {"address": {"{{ ipaddresses.ip_host.cidr }}": {}}}, "acl": {"acme": {"inbound": {}}}}
    settings = {"interface": {"pf0hpf_if": port}, "acl": {"acme": {"type": "ipv4", "rule": listed}}}
    return yaml.safe_dump([{"header": {}}, {"set": settings}]).replace("'{{", "{{").replace("}}'", "}}")


def dpu() -> Any:
    metadata = {"labels": DEPLOYMENT}
    return obj("provisioning.dpu.nvidia.com/v1alpha1", "DPU", "d1", {"dpuNodeName": "h1"}, "dpf", metadata=metadata)


def hbn(rules: list[Rule] = RULES, states: tuple[str, ...] = ()) -> list[Any]:
    """Return the DPF objects of the node's host, whose DPU filters by ``rules`` for packets in ``states``."""
    values = {"values": {"configuration": {"startupYAMLJ2": startup(rules, states)}}}
    services = {"hbn": {"serviceTemplate": "hbn", "serviceConfiguration": "acme-hbn"}}
    config = {"serviceConfiguration": {"helmChart": values}}
    return [
        dpu(),
        obj("svc.dpu.nvidia.com/v1alpha1", "DPUDeployment", "acme", {"services": services}, "dpf"),
        obj("svc.dpu.nvidia.com/v1alpha1", "DPUServiceConfiguration", "acme-hbn", config, "dpf"),
    ]


def ovn(*, routed: bool) -> list[Any]:
    port = {"nodeSelector": {"matchLabels": DEPLOYMENT}, "template": {"spec": {"pf": {"virtualNetwork": "net"}}}}
    network = {"externallyRouted": routed, "bridgedNetwork": {"ipam": {"ipv4": {"subnet": "10.65.0.0/24"}}}}
    return [
        dpu(),
        obj("svc.dpu.nvidia.com/v1alpha1", "DPUServiceInterface", "host", {"template": {"spec": port}}, "acme"),
        obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVirtualNetwork", "net", network, "acme"),
    ]


def pull(management: Any, view: Any, registries: Registries, rounds: int = 1) -> None:
    kubelet = Kubelets(registries)  # type: ignore[arg-type]  # what it uses of the registries
    for _ in range(rounds):
        kubelet.reconcile(management, "acme", view)
