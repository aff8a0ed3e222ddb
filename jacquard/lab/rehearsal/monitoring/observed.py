"""Objects of a region from which prometheus-operator and the chart of the monitoring make their configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.operators.releases.installed import HELM, cluster_of
from jacquard.lab.rehearsal.operators.view import reported
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.providers.kube import ApiServer, KindNotFound, KubeconfigError
from jacquard.providers.kube.objects import dig

Object = dict[str, Any]
CHART, GPU_CHART, ETCD_CHART = "kube-prometheus-stack", "gpu-operator", "kamaji-etcd"
CONTROL_PLANE = ("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane")
API = "monitoring.coreos.com/v1"


@dataclass(frozen=True, slots=True)
class Discovered:
    """Monitors of a cluster, and the objects that they can select."""

    service_monitors: tuple[Object, ...] = ()
    pod_monitors: tuple[Object, ...] = ()
    services: tuple[Object, ...] = ()
    pods: tuple[Object, ...] = ()

    @classmethod
    def by(cls, api: ApiServer) -> Discovered:
        """Return the objects of an API server that Prometheus discovers."""
        kinds = ((API, "ServiceMonitor"), (API, "PodMonitor"), ("v1", "Service"), ("v1", "Pod"))
        return cls(*(tuple(each(api, *kind)) for kind in kinds))


@dataclass(frozen=True, slots=True)
class Agent:
    """Exporters of a cluster of a tenant, which its release of the chart installs."""

    labels: Mapping[str, str]
    """Labels of all series: the external labels of its Prometheus."""
    nodes: tuple[Object, ...]
    has_dcgm: bool
    """Whether the cluster has a release of the GPU operator."""
    discovered: Discovered = Discovered()


@dataclass(frozen=True, slots=True)
class Observed:
    """Values of the release in the management cluster, and the objects that its Prometheus selects."""

    values: Mapping[str, Any]
    discovered: Discovered = Discovered()
    etcds: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Clusters with control planes in the data store of a release, by namespace and name of the release."""
    rules: tuple[Object, ...] = ()
    agents: Mapping[str, Agent] = field(default_factory=dict)
    """Exporters by cluster."""


class Apis:
    """Clients of the API servers of a region; a client is replaced when its kubeconfig changes."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._open: dict[str, tuple[float, ApiServer]] = {}

    def of(self, cluster: str) -> ApiServer:
        """Return the client of a cluster.

        Raises:
            RehearsalError: the cluster does not exist.
        """
        path = self._region.kubeconfig(cluster)
        try:
            modified = path.stat().st_mtime
            if cluster not in self._open or self._open[cluster][0] != modified:
                self._open[cluster] = (modified, ApiServer.from_kubeconfig(path, user_agent="rehearsal-monitoring"))
        except (OSError, KubeconfigError) as error:
            msg = f"{cluster}: {error}"
            raise RehearsalError(msg) from error
        return self._open[cluster][1]


def each(api: ApiServer, version: str, kind: str) -> list[Object]:
    """Return all objects of a kind; none if the API server does not have the kind yet."""
    try:
        return api.list(version, kind)
    except KindNotFound:
        return []


def observe(apis: Apis) -> Observed | None:
    """Return the present objects; None before the release of the management cluster is installed."""
    management = apis.of(MANAGEMENT)
    releases = [release for release in each(management, HELM, "HelmRelease") if reported(release, "Ready")]
    own = next((release for release in _of_chart(releases, CHART) if not cluster_of(release)), None)
    if own is None:
        return None
    with_gpus = {cluster_of(release) for release in _of_chart(releases, GPU_CHART)}
    agents = {}
    for release in _of_chart(releases, CHART):
        if cluster := cluster_of(release):
            labels = dig(release, "spec", "values", "prometheus", "prometheusSpec", "externalLabels") or {}
            api = apis.of(cluster)
            found = tuple(each(api, "v1", "Node"))
            gpus = cluster in with_gpus
            agents[cluster] = Agent({"cluster": cluster, **labels}, found, gpus, Discovered.by(api))
    return Observed(
        values=own["spec"].get("values") or {},
        discovered=Discovered.by(management),
        etcds=etcds(releases, each(management, *CONTROL_PLANE)),
        rules=tuple(each(management, API, "PrometheusRule")),
        agents=agents,
    )


def etcds(releases: list[Object], control_planes: list[Object]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the clusters whose control planes use the data store of each etcd release."""
    return {
        (release["spec"]["targetNamespace"], release["spec"]["releaseName"]): tuple(
            sorted(
                str(one["metadata"]["name"])
                for one in control_planes
                if one["spec"].get("dataStoreName") == release["spec"]["values"]["datastore"]["name"]
            )
        )
        for release in _of_chart(releases, ETCD_CHART)
    }


def _of_chart(releases: list[Object], chart: str) -> Iterator[Object]:
    return (release for release in releases if dig(release, "spec", "chartRef", "name") == chart)
