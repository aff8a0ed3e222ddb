"""Reads the objects of a region's clusters once, and records the clusters that do not answer."""

import datetime as dt
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from components.render.manifest import MANAGEMENT
from components.render.region.engine.engine import API, KIND
from components.specs.environment import Environment
from components.specs.struct import Struct, field
from jacquard.machine import paths
from jacquard.observe.backends import bare_metal, control_planes
from jacquard.observe.image_pulls import PENDING_PODS
from jacquard.observe.objects import Kind, Object
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer
from stacks import kubeconfig

_ANSWER_SECONDS = 10.0
_NEUTRAL_KINDS = (
    ("cluster.x-k8s.io/v1beta2", "Cluster"),
    ("cluster.x-k8s.io/v1beta2", "MachineDeployment"),
    ("cluster.x-k8s.io/v1beta2", "MachineSet"),
    ("cluster.x-k8s.io/v1beta2", "Machine"),
    ("provisioning.dpu.nvidia.com/v1alpha1", "DPU"),
    ("svc.dpu.nvidia.com/v1alpha1", "DPUDeployment"),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
)
"""Kinds of the management cluster that all regions have."""
_CHART_SOURCES = (("source.toolkit.fluxcd.io/v1", "OCIRepository"),)
"""Kind of the sources of charts; only read if charts are pinned."""
STACKS = (API, KIND)
"""Kind of the slices that an operator applies; only read in a region with an operator."""
_TENANT_KINDS = (("storage.k8s.io/v1", "StorageClass"), ("kubevirt.io/v1", "VirtualMachine"), PENDING_PODS)
_FIELDS = {PENDING_PODS[1]: "status.phase=Pending"}
"""Field selectors of a region's status, by kind."""


class Observation(Struct):
    """Answers of the API servers of a region."""

    objects: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    """Objects by cluster and kind."""
    unreachable: dict[str, str] = field(default_factory=dict)
    at: dt.datetime | None = None
    """Time of the observation by the clock of this machine; every answer was received at this time or later."""

    def of(self, kind: str, cluster: str = MANAGEMENT) -> list[dict[str, Any]]:
        """Return all objects of a kind in a cluster; empty if the cluster did not answer."""
        return self.objects.get((cluster, kind), [])

    def management_object(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return an object of the management cluster, or None."""
        for body in self.of(kind):
            if body["metadata"]["name"] == name and body["metadata"].get("namespace") == namespace:
                return body
        return None


def connect(environment: Environment, cluster: str) -> ApiServer:
    """Return a client of a cluster, from its stable kubeconfig path and the context in the region's data.

    If an operator applies the slices of tenants' clusters, only its pods have their kubeconfigs, so that a missing file
    is fetched from the management cluster.

    Raises:
        KubeconfigError: the cluster does not exist yet, or its kubeconfig is not usable.
    """
    path = paths.kubeconfig(environment.name, cluster)
    if cluster != MANAGEMENT and environment.region.engine and not path.exists():
        kubeconfig.refresh(connect(environment, MANAGEMENT), path.parent, cluster)
    context = environment.region.context if cluster == MANAGEMENT else None
    return ApiServer.from_kubeconfig(path, context, timeout_seconds=_ANSWER_SECONDS)


def observe(
    environment: Environment,
    connect: Callable[[Environment, str], ApiServer] = connect,
    *,
    management: tuple[Kind, ...] | None = None,
    tenants: tuple[Kind, ...] = _TENANT_KINDS,
    keep: Callable[[Object], bool] = lambda _: True,
    fields: Mapping[str, str] = _FIELDS,
) -> Observation:
    """Read the objects of the given kinds in the management cluster and all tenant clusters, in parallel.

    Args:
        environment: environment of the clusters.
        connect: opens a client of a cluster.
        management: kinds read in the management cluster; None for all kinds of the region's status.
        tenants: kinds read in each tenant cluster.
        keep: selects the objects to keep from each page, because all pods of a cluster may not fit into memory.
        fields: field selectors, by kind.
    """
    clusters = {MANAGEMENT: _kinds(environment) if management is None else management}
    clusters |= {cluster.name: tenants for tenant in environment.tenants for cluster in tenant.clusters}

    def read(cluster: str) -> Observation:
        try:
            api = connect(environment, cluster)
            return Observation(
                objects={
                    (cluster, kind): _list(api, version, kind, keep, fields.get(kind))
                    for version, kind in clusters[cluster]
                }
            )
        except (ProviderError, OSError) as error:
            return Observation(unreachable={cluster: str(error)})

    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(read, clusters))
    return Observation(
        objects={key: value for answer in answers for key, value in answer.objects.items()},
        unreachable={key: value for answer in answers for key, value in answer.unreachable.items()},
        at=now,
    )


def _kinds(environment: Environment) -> tuple[Kind, ...]:
    """Return the kinds with the status of a region, for its backends only."""
    metal = bare_metal(environment)
    charts = _CHART_SOURCES if environment.image_pins.charts else ()
    kinds = (*_NEUTRAL_KINDS, control_planes(environment).kind, metal.machine, metal.template, *metal.hosts, *charts)
    return (*kinds, STACKS) if environment.region.engine else kinds


def _list(
    api: ApiServer, api_version: str, kind: str, keep: Callable[[Object], bool], fields: str | None
) -> list[Object]:
    try:
        return [body for body in api.each(api_version, kind, field_selector=fields) if keep(body)]
    except ApiError as error:
        if error.not_found:  # the kind is not served here, so it has no objects
            return []
        raise
