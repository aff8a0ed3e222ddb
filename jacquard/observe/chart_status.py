"""Status of charts that are pinned for tenants' clusters, read from the objects of Flux.

Source: fluxcd/helm-controller. ``status.history`` contains the releases that Helm stores, the newest first, each with
the digest of its chart (``ociDigest``) and the time of its last installation or upgrade. Helm does not wait for pods in
tenants' clusters. Therefore the readiness of the cluster's nodes counts too: a node without a required agent is not
ready.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from itertools import islice

from components.lookups.charts import charts_inside
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.struct import Struct
from jacquard.observe.objects import Object
from jacquard.observe.observation import Observation
from jacquard.observe.pool_status import Pool
from jacquard.observe.release_status import last_installed, unready
from jacquard.providers.kube.objects import dig


class ChartStatus(Struct):
    """A chart that is pinned for a cluster; the field names are the keys of the JSON, and of evidence."""

    chart: str
    cluster: str
    version: str
    """Pinned version."""
    applied: str | None
    """Digest of the applied source; None without a source."""
    installed: str | None
    """Digest that Flux last installed; None without an installation, or if releases of the chart differ."""
    settled: bool
    settled_since: str | None
    why: list[str]
    """Reason why the chart is not settled, the nearest cause only; empty if it is settled."""


def chart_status(environment: Environment, seen: Observation, pools: Iterable[Pool]) -> list[ChartStatus]:
    """Return the status of each chart pinned for a cluster of ``environment``, in the order of the data."""
    every = list(pools)
    return [
        _status(
            environment,
            seen,
            placed.cluster.name,
            chart,
            [pool for pool in every if pool.cluster == placed.cluster.name],
        )
        for placed in clusters(environment)
        for chart in charts_inside(environment, placed)
        if chart in environment.image_pins.charts_of(placed.cluster.name)
    ]


def _status(environment: Environment, seen: Observation, cluster: str, chart: str, pools: list[Pool]) -> ChartStatus:
    pin = environment.image_pins.charts_of(cluster)[chart]
    source = seen.management_object("OCIRepository", cluster, chart)
    named = {"kind": "OCIRepository", "name": chart, "namespace": cluster}
    releases = [
        body
        for body in seen.of("HelmRelease")
        if body["metadata"].get("namespace") == cluster and dig(body, "spec", "chartRef") == named
    ]
    digests = {last_installed(body).get("ociDigest") for body in releases}
    why = list(islice(_causes(source, releases, pin.digest, pools), 1))
    return ChartStatus(
        chart=chart,
        cluster=cluster,
        version=pin.version,
        applied=dig(source or {}, "spec", "ref", "digest"),
        installed=digests.pop() if len(digests) == 1 else None,
        settled=not why,
        settled_since=None if why else _since(releases, pools),
        why=why,
    )


def _causes(source: Object | None, releases: list[Object], digest: str, pools: list[Pool]) -> Iterator[str]:
    """Yield the reasons why the chart is not settled in its cluster, the nearest cause first."""
    if source is None or not releases:
        yield f"{'its OCIRepository' if source is None else 'its HelmRelease'} does not exist"
        return
    for body in (source, *releases):
        if why := unready(body):
            yield f"its {body['kind']} {why}"
    if any(last_installed(body).get("ociDigest") != digest for body in releases):
        yield "Flux has not installed the pinned version yet"
    for pool in pools:
        for group in (group for group in pool.groups if group.burn_in is None):  # no pod of tenants runs there yet
            yield from (f"{pool.name} {group.failure_domain}: {reason}" for reason in group.why)


def _since(releases: list[Object], pools: list[Pool]) -> str | None:
    """Return the time at which the last release was installed or the last node became ready, whichever is later."""
    times = [last_installed(body).get("lastDeployed") for body in releases]
    times += [group.settled_since for pool in pools for group in pool.groups]
    moments = [dt.datetime.fromisoformat(text) for text in times if text]
    return max(moments).isoformat() if moments else None
