"""Helm charts as Flux objects: one pinned OCIRepository a chart, one HelmRelease a place it is installed.

Flux owns operators and their CRDs; Pulumi owns the instances. Repositories and the region's releases live in a
namespace of ours, since ``flux-system`` belongs to whoever installed Flux. A cluster for which a chart is pinned has a
repository of its own, beside the release: what moves there moves no other cluster.

What fails is tried again, and goes neither back nor away. Helm takes no kind back with a release, so that an older
operator would meet kinds that it does not know; an uninstallation as remedy would take the kinds that a chart has among
its templates, with all objects of them. The way back is the pin.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.specs.region.versions import Chart, ManifestArtefact

NAMESPACE = "operators"
CERT_MANAGER = "cert-manager"
_RETRY = {"name": "RetryOnFailure", "retryInterval": "2m"}
_PODS_SECONDS = 600
"""How long Helm waits for a release's pods: their images come through the region's mirror, and Flux' own five minutes
count a slow pull as a failure."""
_CALLS_SECONDS = 300
"""How long it waits for hooks and single calls where it waits for no pods."""
_CHART_LAYER = {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"}
ANY = {"name": "any"}
"""Kustomize asks a patch for a name and goes by its target."""
_INSTALLED = Readiness(conditions=("condition=Ready",), timeout_seconds=_PODS_SECONDS + _CALLS_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A chart and where it is installed."""

    chart: str
    namespace: str
    values: Mapping[str, Any] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    """Names of the releases that must be ready first."""
    name: str = ""
    """Name of the release, which differs from the chart's where a chart is installed twice in a namespace; empty for
    the chart's."""
    flags: tuple[str, ...] = ()
    """Arguments added to those of the chart's Deployment, for what the chart has no value for."""
    without: tuple[str, ...] = ()
    """Kinds, as ``<API group>/<Kind>``, that the chart insists on making and something else makes: Helm gets none."""
    pods: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the pods of its Deployments, which manifests and charts that take no values have not."""
    tokenless: tuple[str, ...] = ()
    """Kinds of group ``apps`` whose pods ask no API and would get a token, which the chart has no value against."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """What its release tells people."""
    awaited: bool = True
    """Whether what follows in the management cluster waits for it, since it needs its kinds or what it makes."""

    @property
    def release(self) -> str:
        """Return the name of the release."""
        return self.name or self.chart


def repository(chart: Chart, namespace: str = NAMESPACE) -> Manifest:
    """Return the source of ``chart``."""
    return source(chart, namespace, given(**{keys.MADE_FROM: chart.made_from}), layerSelector=_CHART_LAYER)


def source(pin: Chart | ManifestArtefact, namespace: str, annotations: Mapping[str, str], **further: Any) -> Manifest:
    """Return the source of what is pinned; the digest decides, the tag is there for people."""
    return manifest(
        "source.toolkit.fluxcd.io/v1",
        "OCIRepository",
        pin.name,
        namespace=namespace,
        annotations=annotations,
        spec={"url": pin.url, "ref": {"tag": pin.version, "digest": pin.digest}, **further, "interval": "24h"},
    )


def sources(operators: Iterable[Operator], cluster: str, pins: Mapping[str, Chart]) -> tuple[Manifest, ...]:
    """Return the sources, in the namespace of ``cluster``, of those charts of ``operators`` that are pinned for it."""
    charts = dict.fromkeys(operator.chart for operator in operators)
    return tuple(repository(pins[chart], cluster) for chart in charts if chart in pins)


def release(operator: Operator) -> Manifest:
    """Return the release of ``operator`` in the management cluster."""
    return _release(operator, NAMESPACE, _INSTALLED if operator.awaited else None)


def cluster_release(operator: Operator, cluster: str, *, protect: bool) -> Manifest:
    """Return the release of ``operator`` in the management cluster, in the namespace of ``cluster``, which owns it.

    It is protected while what is installed there holds the cluster's data.
    """
    return _release(operator, cluster, _INSTALLED if operator.awaited else None, protect=protect)


def tenant_release(operator: Operator, cluster: str, pins: Mapping[str, Chart], *, awaited: bool) -> Manifest:
    """Return the release of ``operator`` inside tenant cluster ``cluster``, of its own source where that is pinned.

    Helm's state lies there too, in the namespace it installs into, which is rendered before. Flux would take a
    namespace called like the release's own, and no tenant cluster has that.
    Helm does not wait for pods there: a cluster whose nodes are still booting has the operator's CRDs all the same.
    ``awaited`` when objects of the operator's own kinds follow.
    """
    remote = {**inside(cluster), "storageNamespace": operator.namespace}
    at = cluster if operator.chart in pins else NAMESPACE
    readiness = _INSTALLED if awaited else None
    return _release(operator, cluster, readiness, source_at=at, remote=remote, action={"disableWait": True})


def inside(cluster: str) -> dict[str, Any]:
    """Return the field by which Flux works inside tenant cluster ``cluster``, and not where its objects are."""
    return {"kubeConfig": {"secretRef": {"name": f"{cluster}-kubeconfig"}}}


def _release(
    operator: Operator,
    namespace: str,
    readiness: Readiness | None,
    *,
    source_at: str = NAMESPACE,
    remote: Mapping[str, Any] | None = None,
    action: Mapping[str, Any] | None = None,
    protect: bool = False,
) -> Manifest:
    step = {**(action or {}), "crds": "CreateReplace", "strategy": _RETRY}
    return manifest(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        operator.release,
        namespace=namespace,
        annotations=operator.annotations,
        readiness=readiness,
        protect=protect,
        spec={
            "chartRef": {"kind": "OCIRepository", "name": operator.chart, "namespace": source_at},
            "releaseName": operator.release,
            "targetNamespace": operator.namespace,
            "interval": "1h",
            "timeout": f"{_CALLS_SECONDS if remote else _PODS_SECONDS}s",
            **given(dependsOn=[{"name": name} for name in operator.depends_on]),
            **(remote or {}),
            "install": step,
            "upgrade": step,
            "driftDetection": {"mode": "enabled"},
            **given(values=dict(operator.values), postRenderers=_patched(operator)),
        },
    )


def patches(operator: Operator) -> list[dict[str, Any]]:
    """Return the patches of kustomize that give ``operator`` its flags, and leave out what something else makes."""
    found = [deleted(*kind.split("/")) for kind in operator.without]
    found += [_without_token(kind) for kind in operator.tokenless]
    if operator.pods:
        found.append(_with_pods(operator.pods))
    if operator.flags:
        path = "/spec/template/spec/containers/0/args/-"
        added = [{"op": "add", "path": path, "value": flag} for flag in operator.flags]
        found.append({"target": {"group": "apps", "kind": "Deployment"}, "patch": json.dumps(added)})
    return found


def _patched(operator: Operator) -> list[dict[str, Any]]:
    found = patches(operator)
    return [{"kustomize": {"patches": found}}] if found else []


def _with_pods(pods: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that gives fields to the pods of all Deployments."""
    of = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": ANY}
    patch = {**of, "spec": {"template": {"spec": dict(pods)}}}
    return {"target": {"group": "apps", "kind": "Deployment"}, "patch": json.dumps(patch)}


def _without_token(kind: str) -> dict[str, Any]:
    """Return the patch that keeps the token of their account from the pods of a kind."""
    added = {"op": "add", "path": "/spec/template/spec/automountServiceAccountToken", "value": False}
    return {"target": {"group": "apps", "kind": kind}, "patch": json.dumps([added])}


def deleted(group: str, kind: str) -> dict[str, Any]:
    """Return the patch that takes all objects of a kind away, of the core group where ``group`` is empty."""
    patch = {"$patch": "delete", "apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": ANY}
    return {"target": {**given(group=group or None), "kind": kind}, "patch": json.dumps(patch)}
