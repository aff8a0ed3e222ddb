"""Helm charts as Flux objects: one pinned OCIRepository per chart, one HelmRelease per installation.

Flux owns operators and their CRDs; Pulumi owns the instances. Repositories and the region's releases have a separate
namespace, since ``flux-system`` belongs to the installation of Flux. If a chart is pinned for a cluster, a separate
repository is in the namespace of the cluster's releases, so that a change of the pin affects no other cluster.

Failed installations and upgrades are retried, with neither rollback nor uninstallation. Helm does not roll back CRDs,
so that an older operator would run with newer CRDs that it does not support. Uninstallation would delete CRDs in the
chart's templates, with all objects of these kinds. To roll back, change the pin.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.specs.region.versions import Chart, ManifestArtefact
from components.specs.struct import Struct, field

NAMESPACE = "operators"
CERT_MANAGER = "cert-manager"
_RETRY = {"name": "RetryOnFailure", "retryInterval": "2m"}
_PODS_SECONDS = 600
"""Timeout of Helm for the pods of a release. With Flux' default of five minutes, a slow image pull through the region's
mirror would fail the release."""
_CALLS_SECONDS = 300
"""Timeout of Helm for hooks and single calls if it does not wait for pods."""
_CHART_LAYER = {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"}
ANY = {"name": "any"}
"""Placeholder for the name in patches. kustomize requires a name, but selects objects by the target."""
_INSTALLED = Readiness(conditions=("condition=Ready",), timeout_seconds=_PODS_SECONDS + _CALLS_SECONDS)


class Operator(Struct):
    """Chart with values and the namespace of its installation."""

    chart: str
    namespace: str
    values: Mapping[str, Any] = field(default_factory=dict)
    values_from: tuple[Mapping[str, str], ...] = ()
    """References of Flux to values in Secrets next to the release, which must not be in Pulumi's state."""
    depends_on: tuple[str, ...] = ()
    """Names of the releases that must be ready first."""
    name: str = ""
    """Name of the release, required if a chart is installed twice in a namespace; the chart's name if empty."""
    flags: tuple[str, ...] = ()
    """Additional arguments for the chart's Deployment, for settings without a chart value."""
    json_patches: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Operations of JSON patches for manifests with several Deployments, by their label ``app.kubernetes.io/name``."""
    without: tuple[str, ...] = ()
    """Kinds, as ``<API group>/<Kind>``, of objects that are removed from the chart because other components create
    them."""
    merged: tuple[Mapping[str, Any], ...] = ()
    """Partial objects with API version and kind, whose fields are set in all objects of their kind, or in the one with
    their ``metadata.name``, for fields without a chart value. ``$patch: delete`` removes that object."""
    pods: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields for pods of the Deployments, for manifests and for charts without such values."""
    tokenless: tuple[str, ...] = ()
    """Kinds of group ``apps`` whose token mount is disabled by a patch, because the pods do not use the API and the
    chart has no value for it."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Informational annotations of the release."""
    hooks: bool = True
    """Whether Helm runs the chart's hooks in a tenant cluster. Helm waits for the pods of hooks, which need a node."""
    awaited: bool = True
    """Whether later objects in the management cluster wait for the operator, because they need its CRDs or objects."""

    @property
    def release(self) -> str:
        """Return the name of the release."""
        return self.name or self.chart


def repository(chart: Chart, namespace: str = NAMESPACE) -> Manifest:
    """Return the source of ``chart``."""
    return source(chart, namespace, given(**{keys.MADE_FROM: chart.made_from}), layerSelector=_CHART_LAYER)


def source(pin: Chart | ManifestArtefact, namespace: str, annotations: Mapping[str, str], **further: Any) -> Manifest:
    """Return the source of a pinned artefact. The digest is authoritative; the tag is informational."""
    return manifest(
        "source.toolkit.fluxcd.io/v1",
        "OCIRepository",
        pin.name,
        namespace=namespace,
        annotations=annotations,
        spec={"url": pin.url, "ref": {"tag": pin.version, "digest": pin.digest}, **further, "interval": "24h"},
    )


def sources(operators: Iterable[Operator], cluster: str, pins: Mapping[str, Chart]) -> tuple[Manifest, ...]:
    """Return the sources of the charts of ``operators`` in ``pins``, in the namespace of ``cluster``."""
    charts = dict.fromkeys(operator.chart for operator in operators)
    return tuple(repository(pins[chart], cluster) for chart in charts if chart in pins)


def release(operator: Operator) -> Manifest:
    """Return the release of ``operator`` in the management cluster."""
    return _release(operator, NAMESPACE, _INSTALLED if operator.awaited else None)


def cluster_release(operator: Operator, cluster: str, *, protect: bool) -> Manifest:
    """Return the release of ``operator`` in the management cluster, in the namespace of ``cluster``.

    ``protect`` is for releases that contain data of the cluster.
    """
    return _release(operator, cluster, _INSTALLED if operator.awaited else None, protect=protect)


def tenant_release(operator: Operator, cluster: str, pins: Mapping[str, Chart], *, awaited: bool) -> Manifest:
    """Return the release of ``operator`` inside tenant cluster ``cluster``, from a separate source for a pinned chart.

    Helm's state is in the tenant cluster, in the target namespace, which is rendered earlier. By default Flux would use
    the namespace of the release object, which does not exist in tenant clusters. The release is ready when its pods
    are. ``awaited`` is required if objects of the operator's kinds follow: Helm then does not wait for pods, so that
    these kinds are available even while the nodes of a cluster are booting.
    """
    remote = {**inside(cluster), "storageNamespace": operator.namespace}
    at = cluster if operator.chart in pins else NAMESPACE
    readiness = _INSTALLED if awaited else None
    return _release(operator, cluster, readiness, source_at=at, remote=remote, waits=not awaited)


def inside(cluster: str) -> dict[str, Any]:
    """Return the field with which Flux applies objects to tenant cluster ``cluster`` instead of its own cluster."""
    return {"kubeConfig": {"secretRef": {"name": f"{cluster}-kubeconfig"}}}


def _release(
    operator: Operator,
    namespace: str,
    readiness: Readiness | None,
    *,
    source_at: str = NAMESPACE,
    remote: Mapping[str, Any] | None = None,
    waits: bool = True,
    protect: bool = False,
) -> Manifest:
    without = given(disableWait=None if waits else True, disableHooks=None if operator.hooks else True)
    step = {**without, "crds": "CreateReplace", "strategy": _RETRY}
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
            "timeout": f"{_PODS_SECONDS if waits else _CALLS_SECONDS}s",
            **given(dependsOn=[{"name": name} for name in operator.depends_on]),
            **(remote or {}),
            "install": step,
            "upgrade": step,
            "driftDetection": {"mode": "enabled"},
            **given(
                valuesFrom=[dict(entry) for entry in operator.values_from],
                values=dict(operator.values),
                postRenderers=_patched(operator),
            ),
        },
    )


def patches(operator: Operator) -> list[dict[str, Any]]:
    """Return the kustomize patches for all fields of ``operator`` that change objects of its chart or manifests."""
    items = [deleted(*kind.split("/")) for kind in operator.without]
    items += [_merged(part) for part in operator.merged]
    items += [_without_token(kind) for kind in operator.tokenless]
    if operator.pods:
        items.append(_with_pods(operator.pods))
    if operator.flags:
        path = "/spec/template/spec/containers/0/args/-"
        added = [{"op": "add", "path": path, "value": flag} for flag in operator.flags]
        items.append({"target": {"group": "apps", "kind": "Deployment"}, "patch": json.dumps(added)})
    for name, operations in operator.json_patches.items():
        target = {"group": "apps", "kind": "Deployment", "labelSelector": f"app.kubernetes.io/name={name}"}
        items.append({"target": target, "patch": json.dumps(operations)})
    return items


def _patched(operator: Operator) -> list[dict[str, Any]]:
    items = patches(operator)
    return [{"kustomize": {"patches": items}}] if items else []


def _with_pods(pods: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that sets ``pods`` in the pod specs of all Deployments."""
    of = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": ANY}
    patch = {**of, "spec": {"template": {"spec": dict(pods)}}}
    return {"target": {"group": "apps", "kind": "Deployment"}, "patch": json.dumps(patch)}


def _merged(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that merges ``part`` into all objects of its kind, or into the one with its name."""
    group, name = part["apiVersion"].rpartition("/")[0], part.get("metadata", {}).get("name")
    target = {**given(group=group or None), "kind": part["kind"], **given(name=name)}
    return {"target": target, "patch": json.dumps({**part, "metadata": {"name": name} if name else ANY})}


def _without_token(kind: str) -> dict[str, Any]:
    """Return the patch that disables the token mount in the pods of a kind."""
    added = {"op": "add", "path": "/spec/template/spec/automountServiceAccountToken", "value": False}
    return {"target": {"group": "apps", "kind": kind}, "patch": json.dumps([added])}


def deleted(group: str, kind: str) -> dict[str, Any]:
    """Return the patch that removes all objects of a kind. An empty ``group`` is the core group."""
    patch = {"$patch": "delete", "apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": ANY}
    return {"target": {**given(group=group or None), "kind": kind}, "patch": json.dumps(patch)}
