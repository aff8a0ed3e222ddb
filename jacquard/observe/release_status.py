"""Status of the Helm releases of a region, read from the HelmReleases of Flux in the management cluster.

Source: fluxcd/helm-controller. ``Ready`` is False with a message if the last installation or upgrade failed, and
Unknown while one runs. Without ``disableWait``, Helm also waits for the workloads of the release. A suspended
HelmRelease is not reconciled, so its conditions say nothing.
"""

from collections.abc import Collection, Iterator

from components.render.labels import FIELD_MANAGER, MANAGED_BY
from components.render.manifest import MANAGEMENT
from components.specs.struct import Struct
from jacquard.observe.objects import UNKNOWN, Object, condition, holds, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig


class ReleaseStatus(Struct):
    """A Helm release of the region; the field names are the keys of the JSON."""

    cluster: str
    """Cluster in which the release is installed; ``management`` for the management cluster."""
    name: str
    chart: str
    """Name of the chart's source."""
    chart_version: str | None
    """Version of the chart that Flux last installed; None before the first installation."""
    ready: bool
    why: str | None
    """Reason why the release is not ready, such as ``is not ready: timed out``; None if it is ready."""


def releases(seen: Observation, clusters: Collection[str]) -> list[ReleaseStatus]:
    """Return the releases of Jacquard that are not suspended, by cluster and name.

    Args:
        seen: observation with the HelmReleases of the management cluster.
        clusters: names of the tenant clusters. The HelmReleases of a cluster are in the namespace with its name.
    """
    return sorted(_releases(seen, clusters), key=lambda release: (release.cluster, release.name))


def unready(body: Object) -> str | None:
    """Return the reason why a HelmRelease or its source is not ready, or None; begins with a verb."""
    ready = condition(body, "Ready")
    if ready.get("observedGeneration") != body["metadata"].get("generation"):
        return "has a change that Flux has not observed yet"
    if not holds(body, "Ready"):
        return f"is not ready: {ready.get('message') or ready.get('reason') or 'no reason reported'}"
    return None


def last_installed(body: Object) -> Object:
    """Return the newest entry of a HelmRelease's history, or an empty mapping."""
    return next(iter(dig(body, "status", "history") or ()), {})


def _releases(seen: Observation, clusters: Collection[str]) -> Iterator[ReleaseStatus]:
    for body in seen.of("HelmRelease"):
        if dig(body, "metadata", "labels", MANAGED_BY) == FIELD_MANAGER and not dig(body, "spec", "suspend"):
            namespace, name = key(body)
            why = unready(body)
            yield ReleaseStatus(
                cluster=namespace if namespace in clusters else MANAGEMENT,
                name=name,
                chart=dig(body, "spec", "chartRef", "name") or UNKNOWN,
                chart_version=last_installed(body).get("chartVersion"),
                ready=why is None,
                why=why,
            )
