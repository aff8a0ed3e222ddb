"""Who uses an add-on of a tenant's cluster now: whatever waits for ever, or stops, once its chart is uninstalled.

What the platform installed counts for nothing: it lies in namespaces of the platform's, or carries the mark of Flux.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from jacquard.observe.objects import Kind, Object, key
from jacquard.observe.users import Known, seen, told
from jacquard.providers.kube import ApiServer
from jacquard.providers.kube.objects import dig

RELEASE = "helm.toolkit.fluxcd.io/HelmRelease"
"""Kind of the release that stands for an add-on, with its group."""
_MADE_IN = "helm.toolkit.fluxcd.io/namespace"
"""Label of what helm-controller makes with the namespace of the release, which is called like the cluster."""
_POD: Kind = ("v1", "Pod")
_MAKERS: tuple[Kind, ...] = (("apps/v1", "ReplicaSet"), ("batch/v1", "Job"))
"""Kinds that stand between a pod and what people made."""
_ENDED = ("Failed", "Succeeded")
_GPU, _FEATURE = "nvidia.com/", "feature.node.kubernetes.io/"
_FIGURES = ("ContainerResource", "Resource")
"""Metrics of an autoscaler that metrics-server answers."""

Uses: TypeAlias = Callable[[Object], bool]


@dataclass(frozen=True, slots=True)
class _Users:
    """What may use a chart's release."""

    kinds: tuple[Kind, ...]
    uses: Uses = lambda _: True


def _every(version: str, *kinds: str) -> _Users:
    """Return that all objects of these kinds are users, since nobody acts on them without the chart."""
    return _Users(tuple((version, kind) for kind in kinds))


def _has_address(pod: Object) -> bool:
    """Tell whether a pod that runs has an address of the network's own."""
    return _runs(pod) and not dig(pod, "spec", "hostNetwork")


def _has_gpus(pod: Object) -> bool:
    return _runs(pod) and any(name.startswith(_GPU) for name in _asked(pod))


def _chooses_hardware(body: Object) -> bool:
    """Tell whether a pod that runs goes by labels of hardware; any rule about these does."""
    return body["kind"] != "Pod" or (_runs(body) and any(name.startswith(_FEATURE) for name in _labels(body)))


def _is_balanced(service: Object) -> bool:
    """Tell whether a Service is MetalLB's, which leaves those of a class to others."""
    spec = service.get("spec") or {}
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass")


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
    "slurm-operator": _every("slinky.slurm.net/v1beta1", "Controller", "LoginSet", "NodeSet"),
    "snapshot-controller": _every("snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
}
"""Users by chart; a chart that is not here has none that an API server knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uninstalled:
    """A chart that leaves a cluster."""

    chart: str
    cluster: str
    platform: frozenset[str]
    """Namespaces of the cluster that the platform installs something in."""


def add_on_users(connect: Callable[[], ApiServer], used: Uninstalled, known: Known) -> tuple[str, ...]:
    """Return who uses what a chart brought to a cluster, as `jacquard.observe.users.users` does.

    Raises:
        UnseenError: the cluster does not answer, or refuses.
    """
    users = _USERS.get(used.chart)
    return using_add_on(seen(connect, users.kinds), used, known) if users else ()


def using_add_on(found: Iterable[Object], used: Uninstalled, known: Known) -> tuple[str, ...]:
    """Return which of the objects that were ``found`` use what a chart brought."""
    users = _USERS[used.chart]

    def uses(body: Object) -> bool:
        return (body["apiVersion"], body["kind"]) not in _MAKERS and not _is_ours(body, used) and users.uses(body)

    return told(found, uses, known)


def _is_ours(body: Object, used: Uninstalled) -> bool:
    return key(body)[0] in used.platform or (dig(body, "metadata", "labels") or {}).get(_MADE_IN) == used.cluster


def _runs(pod: Object) -> bool:
    return dig(pod, "status", "phase") not in _ENDED


def _asked(pod: Object) -> Iterator[str]:
    """Yield the names of the resources that a pod asks for."""
    spec = pod.get("spec") or {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        yield from dig(container, "resources", "limits") or ()
        yield from dig(container, "resources", "requests") or ()


def _labels(pod: Object) -> Iterator[str]:
    """Yield the names of the labels that a pod asks of its node."""
    yield from dig(pod, "spec", "nodeSelector") or ()
    wanted = dig(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in wanted.get("nodeSelectorTerms") or ():
        for expression in term.get("matchExpressions") or ():
            yield expression["key"]
