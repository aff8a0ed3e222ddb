"""Simulated node agents of operators that Flux has installed in the cluster of a tenant.

No image runs, so the effect of an operator on nodes is simulated. The DaemonSet of a chart that helm renders is real
(`helm`). For each other operator that acts on nodes, a DaemonSet with the tolerations of its release is created here.
Controllers create and schedule its pods. The effect of a pod on its node is written when the pod runs there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from jacquard.lab.rehearsal.operators.hosts import gpus, node_features, node_problems
from jacquard.lab.rehearsal.operators.hosts.devices import Devices, Found
from jacquard.lab.rehearsal.operators.network import adapters
from jacquard.lab.rehearsal.operators.releases.helm import FLUX_NAME, FLUX_NAMESPACE, RELEASE, is_from_helm, is_real
from jacquard.lab.rehearsal.operators.releases.installed import is_of, source_of
from jacquard.lab.rehearsal.operators.releases.kustomizations import APPLIED_BY, KUSTOMIZE
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owner, reported
from jacquard.providers.kube.objects import dig

_DAEMON_SET = ("apps/v1", "DaemonSet")
_BY = {"HelmRelease": (FLUX_NAME, FLUX_NAMESPACE), "Kustomization": APPLIED_BY}
"""Labels that Flux sets on installed objects, by the kind of their source."""
_PLACEMENT = ("nodeSelector", "affinity", "tolerations")
KUBELET_ROOT = "/var/lib/kubelet"
"""Default of kubelets and charts for the directory of volumes and sockets."""
REGISTRATION = "plugins_registry"
"""Folder in the kubelet's root directory in which the kubelet finds the sockets of CSI drivers."""
_EVERY_TAINT = [{"operator": "Exists"}]
_GPU_TAINT = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
_Acts = Callable[[View, Object, Object, Object, Found], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A DaemonSet that acts on nodes."""

    name: str
    image: str
    """Image; ``{}`` is replaced by the version of the chart or manifests, which may not be the real tag."""
    acts: _Acts | None = None
    """Applies the effect of a running pod; called with view, node, pod, release and the finder of devices."""
    namespace: str = ""
    """Namespace that the chart's operator creates for the DaemonSet; empty: the namespace of the release."""
    host_network: bool = False
    placement: tuple[str, ...] | None = None
    """Path of the mapping with node selector, affinity and tolerations in the chart's values; None if the chart has no
    such values."""
    otherwise: tuple[dict[str, str], ...] = ()
    """Tolerations if the chart's values contain none."""
    selector: tuple[str, str] | None = None
    """Node label of the agent's nodes."""
    labels: Callable[[View, Object], None] | None = None
    """Applies the effect of the chart's operator on each node of the cluster."""
    driver: str = ""
    """CSI driver that the agent registers with the kubelet of its node (operators/storage)."""
    kubelet: tuple[str, ...] = ()
    """Path of the kubelet's root directory in the chart's values, for agents with a driver."""


def _network_ready(reason: str) -> _Acts:
    def acts(view: View, node: Object, _pod: Object, _release: Object, _found: Found) -> None:
        conditions = dig(node, "status", "conditions") or []
        if all(condition["type"] != "NetworkUnavailable" for condition in conditions):
            ready = {"type": "NetworkUnavailable", "status": "False", "reason": reason, "message": "the agent runs"}
            view.status(node, {"conditions": [*conditions, ready]})

    return acts


def _annotate(view: View, node: Object, _pod: Object, _release: Object, _found: Found) -> None:
    if "ovn.kubernetes.io/allocated" not in (node["metadata"].get("annotations") or {}):
        view.patch(node, {"metadata": {"annotations": {"ovn.kubernetes.io/allocated": "true"}}})


AGENTS = {
    "cilium": Agent(
        name="cilium",
        image="quay.io/cilium/cilium:v{}",
        acts=_network_ready("CiliumIsUp"),
        host_network=True,
        placement=(),
        otherwise=tuple(_EVERY_TAINT),
    ),
    "tigera-operator": Agent(
        name="calico-node",
        image="quay.io/calico/node:v{}",
        acts=_network_ready("CalicoIsUp"),
        host_network=True,
        namespace="calico-system",
        otherwise=tuple(_EVERY_TAINT),
    ),
    "kube-ovn": Agent(
        name="kube-ovn-cni",
        image="docker.io/kubeovn/kube-ovn:v{}",
        acts=_annotate,
        host_network=True,
        otherwise=tuple(_EVERY_TAINT),
    ),
    "node-feature-discovery": Agent(
        name="node-feature-discovery-worker",
        image="registry.k8s.io/nfd/node-feature-discovery:v{}",
        acts=node_features.publish,
        placement=("worker",),
    ),
    node_problems.CHART: Agent(
        name="node-problem-detector",
        image="registry.k8s.io/node-problem-detector/node-problem-detector:v{}",
        acts=node_problems.report,
        placement=(),
        otherwise=({"operator": "Exists", "effect": "NoSchedule"},),
    ),
    "gpu-operator": Agent(
        name="nvidia-device-plugin-daemonset",
        image="nvcr.io/nvidia/k8s-device-plugin:v{}",
        acts=gpus.offer,
        placement=("daemonsets",),
        otherwise=tuple(_GPU_TAINT),
        selector=gpus.SELECTOR,
        labels=gpus.label,
    ),
    "network-operator": Agent(
        name="network-device-plugin",
        image="nvcr.io/nvidia/mellanox/sriov-network-device-plugin:network-operator-v{}",
        acts=adapters.offer,
        otherwise=tuple(_EVERY_TAINT),
    ),
    "nv-ipam": Agent(
        name="nv-ipam-node-ds",
        image="nvcr.io/nvidia/mellanox/nvidia-k8s-ipam:network-operator-v{}",
        otherwise=tuple(_EVERY_TAINT),
    ),
    "csi-driver-nfs": Agent(
        name="csi-nfs-node",
        image="registry.k8s.io/sig-storage/nfsplugin:v{}",
        host_network=True,
        placement=("node",),
        otherwise=tuple(_EVERY_TAINT),
        driver="nfs.csi.k8s.io",
        kubelet=("kubeletDir",),
    ),
    "topolvm": Agent(
        name="topolvm-node",
        image="ghcr.io/topolvm/topolvm-with-sidecar:{}",
        placement=("node",),
        driver="topolvm.io",
        kubelet=("node", "kubeletWorkDirectory"),
    ),
    "vast-csi": Agent(
        name="csi-vast-node",
        image="docker.io/vastdataorg/csi:v{}",
        host_network=True,
        placement=("node",),
        driver="csi.vastdata.com",
        kubelet=("kubeletPath",),
    ),
}
"""Agents of operators, by the name of the operator's chart or manifests."""


def reconcile(
    management: View,
    cluster: str,
    view: View,
    serve: Callable[[Iterable[str]], None] = lambda _: None,
    devices: Callable[[View, Object], Devices | None] = lambda *_: None,
) -> None:
    """Update the agents of one cluster from its releases, and apply the effects of running agents on their nodes.

    Registries outside the region ``serve`` the images of agents, and ``devices`` returns those of a Node.
    """
    releases = list(installed(management, cluster))
    wanted = {
        _place(body): (agent, body)
        for agent, release in releases
        for body in _daemon_sets(agent, release, _image(management, agent, release))
    }
    pods = (body["spec"]["template"]["spec"] for _, body in wanted.values())
    serve(container["image"] for pod in pods for container in pod["containers"])
    existing = {_place(body): body for body in view.all(*_DAEMON_SET)}
    for place, body in existing.items():
        by_flux = any(name in (body["metadata"].get("labels") or {}) for name, _ in _BY.values())
        if by_flux and not is_from_helm(body) and place not in wanted:
            view.delete(body)
    for place, (agent, body) in wanted.items():
        if place not in existing or _placement(existing[place]) != _placement(body):
            _install(view, agent, body)
    nodes = {node["metadata"]["name"]: node for node in view.all("v1", "Node")} if releases else {}
    for labels in {agent.labels for agent, _ in releases if agent.labels}:
        for node in nodes.values():
            labels(view, node)
    for agent, release, pod in running(view, releases) if nodes else ():
        on = nodes.get(pod["spec"]["nodeName"])
        labels_of = (dig(on, "metadata", "labels") or {}).items()
        if on is not None and agent.acts and (agent.selector is None or agent.selector in labels_of):
            agent.acts(view, on, pod, release, partial(devices, management, on))


def running(view: View, releases: Iterable[tuple[Agent, Object]]) -> Iterator[tuple[Agent, Object, Object]]:
    """Yield the running pods of the DaemonSets of installed ``releases``, with agent and release."""
    existing = {_place(body): body for body in view.all(*_DAEMON_SET)}
    acting = {
        place: (agent, release)
        for agent, release in releases
        for place in (*map(_place, _daemon_sets(agent, release, "")), *_from_helm(release, existing))
    }
    for pod in view.all("v1", "Pod") if acting else ():
        place = _daemon_set_of(pod)
        if place in acting and not deleting(pod) and dig(pod, "status", "phase") == "Running":
            yield (*acting[place], pod)


def installed(management: View, cluster: str) -> Iterator[tuple[Agent, Object]]:
    """Yield the installed releases and Kustomizations of one cluster that include a node agent, with their agent."""
    for release in (*management.all(*RELEASE), *management.all(KUSTOMIZE, "Kustomization")):
        spec, status = release["spec"], release.get("status") or {}
        agent = AGENTS.get(dig(spec, "chartRef", "name") or dig(spec, "sourceRef", "name") or "")
        before = status.get("history") or status.get("lastAppliedRevision")  # kept during an upgrade
        if agent and is_of(cluster, release) and not deleting(release) and (reported(release, "Ready") or before):
            yield agent, release


def _image(management: View, agent: Agent, release: Object) -> str:
    """Return the image of an agent, with the version of the source of its release."""
    source = source_of(management, release, "chartRef" if release["kind"] == RELEASE[1] else "sourceRef")
    return agent.image.format(str(dig(source, "spec", "ref", "tag") or "0").removeprefix("v"))


def _daemon_sets(agent: Agent, release: Object, image: str) -> Iterator[Object]:
    """Yield the simulated DaemonSet of a chart that helm does not render."""
    if not is_real(release):
        yield _daemon_set(agent, image, release["spec"], _labels(release))


def _from_helm(release: Object, existing: Mapping[tuple[str, str], Object]) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the DaemonSets from the chart of a release."""
    labels = _labels(release).items()
    for place, body in existing.items():
        if is_from_helm(body) and labels <= (body["metadata"].get("labels") or {}).items():
            yield place


def _labels(release: Object) -> dict[str, str]:
    name, namespace = _BY[release["kind"]]
    return {name: release["metadata"]["name"], namespace: release["metadata"]["namespace"]}


def _daemon_set(agent: Agent, image: str, spec: Object, labels: dict[str, str]) -> Object:
    values = spec.get("values") or {}
    placement = {} if agent.placement is None else dig(values, *agent.placement) or {}
    pods = {"app": agent.name}
    pod: dict[str, Any] = {
        "hostNetwork": agent.host_network,
        "tolerations": list(agent.otherwise),
        "containers": [{"name": "agent", "image": image}],
        **{key: placement[key] for key in _PLACEMENT if placement.get(key) is not None},
    }
    if agent.selector:
        pod["nodeSelector"] = dict([agent.selector])
    if agent.driver:
        root = dig(values, *agent.kubelet) or KUBELET_ROOT
        pod["volumes"] = [{"name": "registration", "hostPath": {"path": f"{root.rstrip('/')}/{REGISTRATION}"}}]
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


def _placement(body: Object) -> list[Any]:
    """Return the fields of an agent's pods that depend on its release."""
    pod = dig(body, "spec", "template", "spec") or {}
    return [*(pod.get(key) or None for key in _PLACEMENT), host_paths(pod)]


def host_paths(pod: Object) -> list[str]:
    """Return the host paths of a pod spec."""
    return [path for volume in pod.get("volumes") or () if (path := dig(volume, "hostPath", "path"))]
