"""What runs on the nodes of a tenant's cluster once Flux has installed an operator there, and what it does to them.

No image runs, so what an operator does to nodes is simulated. Where helm renders its chart (`helm`) the DaemonSet is
real; for each other one that acts on nodes, by chart or by manifests, there is one here, with the tolerations that its
release asks for. The controllers of the cluster make pods of it and schedule them. What such a pod makes of its node is
written once the pod runs there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.lab.rehearsal.operators.hosts import gpus, node_features
from jacquard.lab.rehearsal.operators.network import adapters
from jacquard.lab.rehearsal.operators.releases.helm import FLUX_NAME, FLUX_NAMESPACE, RELEASE, is_from_helm, is_real
from jacquard.lab.rehearsal.operators.releases.kustomizations import APPLIED_BY, KUSTOMIZE
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owner, reported
from jacquard.providers.kube.objects import dig

_DAEMON_SET = ("apps/v1", "DaemonSet")
_BY = {"HelmRelease": (FLUX_NAME, FLUX_NAMESPACE), "Kustomization": APPLIED_BY}
"""Labels that Flux puts on what it installs, by what it installs from."""
_EVERY_TAINT = [{"operator": "Exists"}]
_GPU_TAINT = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
_Acts = Callable[[View, Object, Object, Object], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The DaemonSet of a chart that acts on nodes."""

    name: str
    acts: _Acts | None = None
    """Does to a node what a pod of it does there, as the release says: given are the node, the pod and the release."""
    namespace: str = ""
    """Namespace that the chart's operator makes for it; empty: that of the release."""
    host_network: bool = False
    tolerations: tuple[str, ...] = ()
    """Where the chart's values have them."""
    otherwise: tuple[dict[str, str], ...] = ()
    """Tolerations where the values say nothing."""
    selector: tuple[str, str] | None = None
    """Label that its nodes have."""
    labels: Callable[[View, Object], None] | None = None
    """Does to each node of the cluster what the chart's operator does."""


def _is_up(reason: str) -> _Acts:
    def acts(view: View, node: Object, _pod: Object, _release: Object) -> None:
        told = dig(node, "status", "conditions") or []
        if all(one["type"] != "NetworkUnavailable" for one in told):
            up = {"type": "NetworkUnavailable", "status": "False", "reason": reason, "message": "the agent runs"}
            view.status(node, {"conditions": [*told, up]})

    return acts


def _annotated(view: View, node: Object, _pod: Object, _release: Object) -> None:
    if "ovn.kubernetes.io/allocated" not in (node["metadata"].get("annotations") or {}):
        view.patch(node, {"metadata": {"annotations": {"ovn.kubernetes.io/allocated": "true"}}})


AGENTS = {
    "cilium": Agent(
        name="cilium",
        acts=_is_up("CiliumIsUp"),
        host_network=True,
        tolerations=("tolerations",),
        otherwise=tuple(_EVERY_TAINT),
    ),
    "tigera-operator": Agent(
        name="calico-node",
        acts=_is_up("CalicoIsUp"),
        host_network=True,
        namespace="calico-system",
        otherwise=tuple(_EVERY_TAINT),
    ),
    "kube-ovn": Agent(name="kube-ovn-cni", acts=_annotated, host_network=True, otherwise=tuple(_EVERY_TAINT)),
    "node-feature-discovery": Agent(
        name="node-feature-discovery-worker", acts=node_features.publish, tolerations=("worker", "tolerations")
    ),
    "gpu-operator": Agent(
        name="nvidia-device-plugin-daemonset",
        acts=gpus.offer,
        tolerations=("daemonsets", "tolerations"),
        otherwise=tuple(_GPU_TAINT),
        selector=gpus.SELECTOR,
        labels=gpus.label,
    ),
    "network-operator": Agent(name="network-device-plugin", acts=adapters.offer, otherwise=tuple(_EVERY_TAINT)),
    "nv-ipam": Agent(name="nv-ipam-node-ds", otherwise=tuple(_EVERY_TAINT)),
}
"""What the agents of operators do to nodes, by the name of the chart or of the manifests."""


def reconcile(management: View, cluster: str, view: View) -> None:
    """Bring the agents of one cluster to what its releases say, and let those that run act on their nodes."""
    releases = list(installed(management, cluster))
    wanted = {_place(body): (agent, body) for agent, release in releases for body in _daemon_sets(agent, release)}
    there = {_place(body): body for body in view.all(*_DAEMON_SET)}
    for place, body in there.items():
        by_flux = any(name in (body["metadata"].get("labels") or {}) for name, _ in _BY.values())
        if by_flux and not is_from_helm(body) and place not in wanted:
            view.delete(body)
    for place, (agent, body) in wanted.items():
        if place not in there or _tolerations(there[place]) != _tolerations(body):
            _install(view, agent, body)
    acting = {
        place: (agent, release)
        for agent, release in releases
        for place in (*map(_place, _daemon_sets(agent, release)), *_from_helm(release, there))
    }
    nodes = {node["metadata"]["name"]: node for node in view.all("v1", "Node")} if acting else {}
    for labels in {agent.labels for agent, _ in acting.values() if agent.labels}:
        for node in nodes.values():
            labels(view, node)
    for pod in view.all("v1", "Pod") if nodes else ():
        place, name = _daemon_set_of(pod), dig(pod, "spec", "nodeName") or ""
        if place in acting and name in nodes and not deleting(pod) and dig(pod, "status", "phase") == "Running":
            agent, release = acting[place]
            if agent.acts and (agent.selector is None or _has(nodes[name], agent.selector)):
                agent.acts(view, nodes[name], pod, release)


def installed(management: View, cluster: str) -> Iterator[tuple[Agent, Object]]:
    """Yield the releases and Kustomizations in one cluster that are installed and bring an agent to its nodes."""
    for release in (*management.all(*RELEASE), *management.all(KUSTOMIZE, "Kustomization")):
        spec, status = release["spec"], release.get("status") or {}
        agent = AGENTS.get(dig(spec, "chartRef", "name") or dig(spec, "sourceRef", "name") or "")
        there = dig(spec, "kubeConfig", "secretRef", "name") == f"{cluster}-kubeconfig"
        before = status.get("history") or status.get("lastAppliedRevision")  # which an upgrade leaves there
        if agent and there and not deleting(release) and (reported(release, "Ready") or before):
            yield agent, release


def _daemon_sets(agent: Agent, release: Object) -> Iterator[Object]:
    """Yield what stands for a chart that helm does not render."""
    if not is_real(release):
        yield _daemon_set(agent, release["spec"], _labels(release))


def _from_helm(release: Object, there: Mapping[tuple[str, str], Object]) -> Iterator[tuple[str, str]]:
    """Yield the places of DaemonSets that the chart of a release brought."""
    labels = _labels(release).items()
    for place, body in there.items():
        if is_from_helm(body) and labels <= (body["metadata"].get("labels") or {}).items():
            yield place


def _labels(release: Object) -> dict[str, str]:
    name, namespace = _BY[release["kind"]]
    return {name: release["metadata"]["name"], namespace: release["metadata"]["namespace"]}


def _daemon_set(agent: Agent, spec: Object, labels: dict[str, str]) -> Object:
    given = dig(spec.get("values") or {}, *agent.tolerations) if agent.tolerations else None
    pods = {"app": agent.name}
    pod: dict[str, Any] = {
        "hostNetwork": agent.host_network,
        "tolerations": list(agent.otherwise) if given is None else given,
        "containers": [{"name": "agent", "image": agent.name}],
    }
    if agent.selector:
        pod["nodeSelector"] = dict([agent.selector])
    return {
        "apiVersion": _DAEMON_SET[0],
        "kind": _DAEMON_SET[1],
        "metadata": {"name": agent.name, "namespace": agent.namespace or spec["targetNamespace"], "labels": labels},
        "spec": {
            "selector": {"matchLabels": pods},
            "template": {"metadata": {"labels": pods}, "spec": pod},
            "updateStrategy": {"type": "OnDelete"},
        },
    }


def _install(view: View, agent: Agent, body: Object) -> None:
    if agent.namespace:
        view.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": agent.namespace}})
    view.apply(body)


def _daemon_set_of(pod: Object) -> tuple[str, str]:
    return pod["metadata"].get("namespace", ""), owner(pod, _DAEMON_SET[1]) or ""


def _place(body: Object) -> tuple[str, str]:
    return body["metadata"]["namespace"], body["metadata"]["name"]


def _tolerations(body: Object) -> list[Object]:
    return dig(body, "spec", "template", "spec", "tolerations") or []


def _has(node: Object, label: tuple[str, str]) -> bool:
    key, value = label
    return (node["metadata"].get("labels") or {}).get(key) == value
