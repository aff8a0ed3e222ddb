"""Finds the users of an add-on in a tenant's cluster: objects that stop working when the add-on's chart is uninstalled.

Objects installed by the platform are ignored: objects in a namespace of the platform or with the mark of Flux.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from components.render.labels import FIELD_MANAGER, MANAGED_BY
from components.render.storage.storage import STORAGE_BACKENDS
from components.specs.struct import Struct
from jacquard.observe.objects import Kind, Object, key
from jacquard.observe.users import Known, read, user_names
from jacquard.providers.kube import ApiServer
from jacquard.providers.kube.objects import dig

RELEASE = "helm.toolkit.fluxcd.io/HelmRelease"
"""Kind of an add-on's release, with its group."""
_MADE_IN = "helm.toolkit.fluxcd.io/namespace"
"""Label that helm-controller sets on its objects: the namespace of the release, which has the name of the cluster."""
_POD: Kind = ("v1", "Pod")
_MAKERS: tuple[Kind, ...] = (("apps/v1", "ReplicaSet"), ("batch/v1", "Job"))
"""Kinds between a pod and the objects that users create."""
_ENDED = ("Failed", "Succeeded")
_GPU, _FEATURE = ("nvidia.com/gpu", "nvidia.com/mig-"), "feature.node.kubernetes.io/"
"""Prefixes of resources that the device plugin offers, and of hardware labels. Devices of VMs have other names."""
_FIGURES = ("ContainerResource", "Resource")
"""Types of autoscaler metrics that metrics-server provides."""

Uses: TypeAlias = Callable[[Object], bool]


class _Users(Struct, kw_only=False):
    """Possible users of a chart's release."""

    kinds: tuple[Kind, ...]
    uses: Uses = lambda _: True


def _every(version: str, *kinds: str) -> _Users:
    """Return true: all objects of these kinds are users, because only the chart's controllers process these kinds."""
    return _Users(tuple((version, kind) for kind in kinds))


def _has_address(pod: Object) -> bool:
    """Return whether a running pod has an address of the pod network."""
    return _runs(pod) and not dig(pod, "spec", "hostNetwork")


def _has_gpus(pod: Object) -> bool:
    return _runs(pod) and any(name.startswith(_GPU) for name in _asked(pod))


def _chooses_hardware(body: Object) -> bool:
    """Return whether a running pod selects nodes by hardware labels; every NodeFeatureRule of a user does.

    The rules of the platform are deleted with the add-on.
    """
    if body["kind"] == "Pod":
        return _runs(body) and any(name.startswith(_FEATURE) for name in _labels(body))
    return (dig(body, "metadata", "labels") or {}).get(MANAGED_BY) != FIELD_MANAGER


def _is_balanced(service: Object) -> bool:
    """Return whether a Service uses MetalLB, which ignores Services with a load balancer class."""
    spec = service.get("spec") or {}
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass")


def _with_finalizer(name: str) -> _Users:
    """Return as users the Nodes with the finalizer of a driver's agent, which only its controller removes."""
    return _Users((("v1", "Node"),), lambda node: name in (dig(node, "metadata", "finalizers") or ()))


def _goes_by_figures(autoscaler: Object) -> bool:
    return any(metric.get("type") in _FIGURES for metric in dig(autoscaler, "spec", "metrics") or ())


_OF_A_NETWORK = _Users((_POD, *_MAKERS), _has_address)
_USERS: Mapping[str, _Users] = {
    "cilium": _OF_A_NETWORK,
    "tigera-operator": _OF_A_NETWORK,
    "gpu-operator": _Users((_POD, *_MAKERS), _has_gpus),
    "dra-driver-nvidia-gpu": _every("resource.nvidia.com/v1beta1", "ComputeDomain"),
    "node-feature-discovery": _Users(
        (_POD, *_MAKERS, ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule")), _chooses_hardware
    ),
    "metallb": _Users((("v1", "Service"),), _is_balanced),
    "metrics-server": _Users((("autoscaling/v2", "HorizontalPodAutoscaler"),), _goes_by_figures),
    "cert-manager": _every("cert-manager.io/v1", "Certificate", "ClusterIssuer", "Issuer"),
    "kube-prometheus-stack": _every("monitoring.coreos.com/v1", "PodMonitor", "PrometheusRule", "ServiceMonitor"),
    "kueue": _every("kueue.x-k8s.io/v1beta1", "ClusterQueue", "LocalQueue"),
    "lws": _every("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    "slurm-operator": _every("slinky.slurm.net/v1beta1", "Controller", "LoginSet", "NodeSet"),
    "snapshot-controller": _every("snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
    **{
        backend.chart: _with_finalizer(backend.node_finalizer)
        for backend in STORAGE_BACKENDS.values()
        if backend.node_finalizer
    },
}
"""Users by chart; other charts have no users in the API."""


class Uninstalled(Struct):
    """A chart that is uninstalled from a cluster."""

    chart: str
    cluster: str
    platform: frozenset[str]
    """Namespaces of the cluster with platform components."""


def add_on_users(connect: Callable[[], ApiServer], used: Uninstalled, known: Known) -> tuple[str, ...]:
    """Return the users of a chart's objects in a cluster, as `jacquard.observe.users.users` does.

    Raises:
        UnreadableError: the cluster does not answer, or rejects the request.
    """
    users = _USERS.get(used.chart)
    return using_add_on(read(connect, users.kinds), used, known) if users else ()


def using_add_on(found: Iterable[Object], used: Uninstalled, known: Known) -> tuple[str, ...]:
    """Return the users of a chart among the objects in ``found``."""
    users = _USERS[used.chart]

    def uses(body: Object) -> bool:
        return (body["apiVersion"], body["kind"]) not in _MAKERS and not _is_ours(body, used) and users.uses(body)

    return user_names(found, uses, known)


def _is_ours(body: Object, used: Uninstalled) -> bool:
    return key(body)[0] in used.platform or (dig(body, "metadata", "labels") or {}).get(_MADE_IN) == used.cluster


def _runs(pod: Object) -> bool:
    return dig(pod, "status", "phase") not in _ENDED


def _asked(pod: Object) -> Iterator[str]:
    """Yield the names of the resources that a pod requests."""
    spec = pod.get("spec") or {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        yield from dig(container, "resources", "limits") or ()
        yield from dig(container, "resources", "requests") or ()


def _labels(pod: Object) -> Iterator[str]:
    """Yield the names of the node labels that a pod requires."""
    yield from dig(pod, "spec", "nodeSelector") or ()
    wanted = dig(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in wanted.get("nodeSelectorTerms") or ():
        for expression in term.get("matchExpressions") or ():
            yield expression["key"]
