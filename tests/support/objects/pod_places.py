"""Nodes of pools in tenant clusters, and pods and host paths (`pod_tables`) that do not match them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.lookups.pools import clusters, vm_pools
from components.lookups.scheduling import SchedulingNode, Taint, rejected, unscheduled
from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.pools.node_paths import K0S, KUBEADM, KUBELET_ROOT
from components.specs.environment import Environment
from components.specs.pools.node_pool import PoolRole
from components.specs.struct import replace
from tests.support.objects.pod_tables import CONTROL_PLANES, Pod, cluster_of, dig, pods_of

_COPIED = re.compile(r"(node-role\.kubernetes|([\w-]+\.)*(node-restriction\.kubernetes|node\.cluster\.x-k8s))\.io/.+")
"""Labels of a Machine that Cluster API copies to its Node (CAPI:api/core/v1beta2/common_types.go)."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A pool of a cluster: one of its nodes, and the requirements of its pods."""

    node: SchedulingNode
    system: bool = False
    driver: bool = False
    gpus: bool = False
    disks: bool = True
    nvlink: bool = False
    vms: bool = False

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(kw_only=True)
class Cluster:
    """Pods and pools of one tenant cluster, and the folders of its distribution."""

    name: str
    pools: list[Pool] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    distribution: str = ""
    kubelet_roots: set[str] = field(default_factory=set)
    """Folders of the kubelets of all pools."""


def places(environment: Environment, rendered: Iterable[Manifest]) -> dict[str, Cluster]:
    """Return the tenant clusters of an environment by name, with pods and pools of its rendered objects."""
    every = tuple(rendered)
    found = {placed.cluster.name: Cluster(name=placed.cluster.name) for placed in clusters(environment)}
    templates = {item.name: item.body["spec"]["template"]["spec"] for item in every if item.kind in _BOOTSTRAPS}
    for item in every:
        if item.kind == "MachineDeployment":
            cluster = found[item.body["spec"]["clusterName"]]
            reference = dig(item.body, "spec.template.spec.bootstrap.configRef.name")
            _add_pool(environment, cluster, item, templates[reference])
        elif (name := cluster_of(item)) is not None:
            found[name].pods += pods_of(item)
            found[name].distribution = CONTROL_PLANES.get(item.kind) or found[name].distribution
    return found


_BOOTSTRAPS = ("KubeadmConfigTemplate", "K0sWorkerConfigTemplate")


def _add_pool(environment: Environment, cluster: Cluster, item: Manifest, bootstrap: Mapping[str, Any]) -> None:
    """Add the pool of a MachineDeployment, once for all failure domains, with folders of its nodes."""
    labels: dict[str, str] = item.body["spec"]["template"]["metadata"]["labels"]
    own, taints, root = _registered(bootstrap)
    cluster.kubelet_roots.add(root)
    name = labels[keys.POOL]
    placed = next(one for one in clusters(environment) if one.cluster.name == cluster.name)
    spec = next(one for one in placed.cluster.pools if one.name == name)
    kind = environment.instance_types.by_name[spec.instance_type]
    image = next(one for one in environment.images.images if one.version == own[keys.NODE_IMAGE]).contents
    nfd = {"feature.node.kubernetes.io/pci-10de.present": "true"} if kind.gpu else {}
    declared = [{"key": one.key, "value": one.value, "effect": one.effect.value} for one in spec.taints]
    order = placed.tenant.vms
    vms = vm_pools(environment, order, placed.cluster) if order and order.cluster == cluster.name else ()
    pool = Pool(
        node=SchedulingNode(
            name=name,
            labels={"kubernetes.io/os": "linux", "kubernetes.io/arch": kind.architecture.value, **nfd, **own}
            | {key: value for key, value in labels.items() if _COPIED.fullmatch(key)},
            taints=tuple(taints + [taint for taint in declared if taint not in taints]),
        ),
        system=spec.role is PoolRole.SYSTEM,
        driver=image.gpu_driver is not None,
        gpus=kind.gpu is not None,
        disks=kind.nvme_disks > 0,
        nvlink=kind.spans_nodes,
        vms=name in {one.name for one in vms},
    )
    if all({**other.node.labels, _DOMAIN: ""} != {**pool.node.labels, _DOMAIN: ""} for other in cluster.pools):
        cluster.pools.append(pool)


_DOMAIN = "node-restriction.kubernetes.io/failure-domain"


def _registered(bootstrap: Mapping[str, Any]) -> tuple[dict[str, str], list[Taint], str]:
    """Return labels and taints with which nodes of a template register, and the kubelet's folder."""
    if "joinConfiguration" in bootstrap:
        node = bootstrap["joinConfiguration"]["nodeRegistration"]
        arguments = {entry["name"]: entry["value"] for entry in node.get("kubeletExtraArgs", ())}
        taints: list[Taint] = [{"value": "", **taint} for taint in node.get("taints", ())]
        return _pairs(arguments["node-labels"]), taints, str(arguments.get("root-dir", KUBELET_ROOT))
    flags = dict(flag.removeprefix("--").split("=", 1) for flag in bootstrap["args"])
    matches = [re.fullmatch(r"([^=]+)=([^:]*):(.+)", text) for text in flags.get("taints", "").split(",") if text]
    taints = [{"key": match[1], "value": match[2], "effect": match[3]} for match in matches if match]
    return _pairs(flags["labels"]), taints, flags.get("kubelet-root-dir", _K0S_ROOT)


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


def misplaced(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield pods that run on no node, on too few nodes, or on forbidden nodes: chart or kind, pod, problem."""
    for pod in cluster.pods:
        for text in _SERVED[pod.serves](pod, cluster.pools):
            yield pod.of, pod.name, text


def missing_host_paths(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield host paths that do not exist on nodes of the cluster: chart or kind, pod, problem."""
    others = {path for name, paths in _RUNTIME.items() if name != cluster.distribution for path in paths}
    for pod in cluster.pods:
        for path in pod.paths:
            host = re.sub("^/var/run(?=/|$)", "/run", path).rstrip("/") or "/"
            if any(_in(host, root) for root in _KUBELET) and not all(_in(host, root) for root in cluster.kubelet_roots):
                yield pod.of, pod.name, f"{path} is outside {', '.join(sorted(cluster.kubelet_roots))}"
            elif any(_in(host, folder) for folder in others):
                yield pod.of, pod.name, f"{path} is outside {', '.join(sorted(_RUNTIME[cluster.distribution]))}"
            elif not any(_in(host, folder) for folder in (*_KUBELET, *_IMAGE)) and host != "/":
                yield pod.of, pod.name, f"{path} is in no folder of golden images"


def _in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


_K0S_ROOT = "/var/lib/k0s/kubelet"
"""Folder of the kubelet with k0s, unless the template of its nodes overrides it (K0S:docs/directories.md)."""
_KUBELET = (KUBELET_ROOT, _K0S_ROOT)
_RUNTIME = {
    name: {str(Path(file).parent) for file in (paths.socket, paths.config)}
    for name, paths in {"kubeadm": KUBEADM, "k0s": K0S}.items()
}
"""Folders of containerd: socket and configuration."""
_IMAGE = ("/boot", "/dev", "/etc", "/lib", "/opt/cni/bin", "/proc", "/run", "/sys", "/usr", "/var/lib", "/var/log")
"""Folders of every golden image.

Pods create their folders in /etc, /run, /usr/local, /var/lib and /var/log. Both distributions read CNI plug-ins from
/opt/cni/bin (K0S:pkg/component/controller/kuberouter.go).
"""


def _refusals(pod: Pod, pools: Iterable[Pool]) -> dict[str, str]:
    return {pool.name: why for pool in pools if (why := unscheduled(pod.spec, pool.node))}


def _somewhere(pod: Pod, pools: list[Pool]) -> Iterator[str]:
    refused = _refusals(pod, pools)
    if len(refused) == len(pools):
        yield f"fits no pool: {_listed(refused)}"


def _services(pod: Pod, pools: list[Pool]) -> Iterator[str]:
    yield from _somewhere(pod, pools)
    taken = [pool.name for pool in pools if not unscheduled(pod.spec, pool.node) and not pool.system]
    if taken and any(pool.system for pool in pools):
        yield f"may run on pools of jobs: {', '.join(taken)}"


def _exactly(wanted: Callable[[Pool], bool]) -> Callable[[Pod, list[Pool]], Iterator[str]]:
    def served(pod: Pod, pools: list[Pool]) -> Iterator[str]:
        if refused := _refusals(pod, filter(wanted, pools)):
            yield f"is missing on {_listed(refused)}"
        taken = [pool.name for pool in pools if not wanted(pool) and not unscheduled(pod.spec, pool.node)]
        if taken:
            yield f"must not run on {', '.join(taken)}"

    return served


def _volume_groups(pod: Pod, pools: list[Pool]) -> Iterator[str]:
    """Yield problems with pools, and with a potential pool without disks."""
    labels = {keys.NODE_POOL: "diskless", keys.NODE_INSTANCE_TYPE: "diskless", "kubernetes.io/os": "linux"}
    diskless = Pool(node=SchedulingNode(name="a pool without disks", labels=labels), disks=False)
    yield from _exactly(lambda pool: pool.disks)(pod, [*pools, diskless])


def _by_name(pod: Pod, pools: list[Pool]) -> Iterator[str]:
    refused = {pool.name: why for pool in pools if pool.vms and (why := rejected(pod.spec, pool.node))}
    if refused:
        yield f"is rejected by kubelets of {_listed(refused)}"


def _selected(pod: Pod, pools: list[Pool]) -> Iterator[str]:
    chosen = [pool for pool in pools if not unscheduled(pod.spec, replace(pool.node, taints=()))]
    if not chosen:
        yield "selects no pool"
    elif refused := _refusals(pod, chosen):
        yield f"is missing on {_listed(refused)}"


def _listed(refused: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {why}" for name, why in refused.items())


_SERVED: Mapping[str, Callable[[Pod, list[Pool]], Iterator[str]]] = {
    "anywhere": _somewhere,
    "dns": _somewhere,
    "services": _services,
    "nodes": _exactly(lambda _: True),
    "gpus": _exactly(lambda pool: pool.gpus and pool.driver),
    "nvlink": _exactly(lambda pool: pool.nvlink),
    "volume groups": _volume_groups,
    "vms": _exactly(lambda pool: pool.vms),
    "some vms": lambda pod, pools: _somewhere(pod, [pool for pool in pools if pool.vms]),
    "vms by name": _by_name,
    "selected": _selected,
}
"""Functions that yield the problems of a pod with the pools of its cluster, by the field ``serves``."""
