"""Installation of operators by Flux: from a chart, or from manifests if upstream publishes no chart.

The version vector contains either the chart or the manifests. Manifests are rendered as an OCIRepository, pinned by
digest, and a Kustomization in each cluster with the operator. The Namespace in the manifests is removed, because
Jacquard renders it with additional labels, and deletion of the Kustomization would delete the Namespace with its
content. Pruning of CRDs is disabled, because it would delete all objects of these kinds.

Helm uninstalls a deleted release unless it is suspended. An operator that is listed under both charts and manifests
therefore has both: the manifests take over the existing objects, and the release is suspended until its chart is
removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.render.region.operators import (
    ANY,
    NAMESPACE,
    Operator,
    deleted,
    inside,
    patches,
    release,
    source,
    sources,
    tenant_release,
)
from components.specs.region.versions import Chart, ManifestArtefact, VersionVector
from components.specs.struct import Struct, field, replace

_RELEASE, _KUSTOMIZATION = "HelmRelease", "Kustomization"
_RETRY = "2m"
_APPLY_SECONDS = {True: 600, False: 300}
"""Timeout of Flux by `wait`. It includes the start of pods if Flux waits for pods, otherwise only API calls."""
_TIMEOUT_SECONDS = 900
_WITHOUT_NAMESPACE = deleted("", "Namespace")
_KEEP_CRDS = {
    "target": {"group": "apiextensions.k8s.io", "kind": "CustomResourceDefinition"},
    "patch": json.dumps(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {**ANY, "annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}},
        }
    ),
}


class ByManifests(Struct):
    """Operators that are installed from manifests. All other operators are installed from charts."""

    artefacts: Mapping[str, ManifestArtefact] = field(default_factory=dict)
    """Artefacts of the version vector, by name."""
    handed_over: frozenset[str] = frozenset()
    """Names of the artefacts that also have a chart."""

    @classmethod
    def taken(cls, versions: VersionVector, wanted: Iterable[str]) -> ByManifests:
        """Return the manifests in ``versions`` for the operators ``wanted``."""
        names = {*wanted}
        artefacts = {artefact.name: artefact for artefact in versions.manifests if artefact.name in names}
        charts = {chart.name for chart in versions.charts}
        return cls(artefacts=artefacts, handed_over=frozenset(artefacts.keys() & charts))

    def of(self, operator: Operator) -> ManifestArtefact | None:
        """Return the manifests of ``operator``; None if it is installed from a chart."""
        return self.artefacts.get(operator.chart)


def repository(artefact: ManifestArtefact) -> Manifest:
    """Return the source of ``artefact``."""
    return source(artefact, NAMESPACE, {keys.MANIFESTS_OF: artefact.made_from})


def installed(operators: Iterable[Operator], by_manifests: ByManifests) -> Iterator[Manifest]:
    """Yield the objects that install ``operators`` in the management cluster, in order, after suspended releases.

    In Flux, releases can depend only on releases. Dependencies of and on manifests determine the apply order.
    """
    every = tuple(operators)
    yield from (_suspended(release(operator)) for operator in every if operator.chart in by_manifests.handed_over)
    kinds = {operator.release: _KUSTOMIZATION if by_manifests.of(operator) else _RELEASE for operator in every}
    for operator in every:
        if artefact := by_manifests.of(operator):
            item = kustomization(operator.release, artefact, operator.namespace, patched=_patched(operator))
            dependencies = tuple((kinds[name], name) for name in operator.depends_on)
            yield replace(item, after=(*_suspended_release(operator, by_manifests), *dependencies))
        else:
            releases = tuple(name for name in operator.depends_on if kinds[name] == _RELEASE)
            others = tuple((_KUSTOMIZATION, name) for name in operator.depends_on if name not in releases)
            yield replace(release(replace(operator, depends_on=releases)), after=others)


def installed_in(
    operators: Iterable[Operator], by_manifests: ByManifests, cluster: str, pins: Mapping[str, Chart]
) -> Iterator[Manifest]:
    """Yield the objects that install ``operators`` in tenant cluster ``cluster``, awaited, without mutual dependencies.

    Charts in ``pins`` have separate sources for this cluster. Flux does not wait for pods: the CRDs of operators are
    available even while nodes of the cluster are booting.
    """
    every = tuple(operators)
    releases = {operator.release: tenant_release(operator, cluster, pins, awaited=True) for operator in every}
    yield from sources(every, cluster, pins)
    suspended = (operator for operator in every if operator.chart in by_manifests.handed_over)
    yield from (_suspended(releases[operator.release]) for operator in suspended)
    for operator in every:
        if artefact := by_manifests.of(operator):
            item = kustomization(
                operator.release,
                artefact,
                operator.namespace,
                place=cluster,
                wait=False,
                patched=_patched(operator),
                further=inside(cluster),
            )
            yield replace(item, after=_suspended_release(operator, by_manifests))
        else:
            yield releases[operator.release]


def kustomization(
    name: str,
    artefact: ManifestArtefact,
    target: str,
    *,
    place: str = NAMESPACE,
    path: str = "./",
    wait: bool = True,
    patched: Iterable[Mapping[str, Any]] = (),
    further: Mapping[str, Any] | None = None,
) -> Manifest:
    """Return the Kustomization of a folder of ``artefact``, awaited until the digest of the artefact is applied.

    Args:
        name: name of the Kustomization.
        artefact: artefact with the manifests.
        target: namespace of all objects, which overrides the namespace in the manifests.
        place: namespace of the Kustomization itself, in the management cluster.
        path: folder in the artefact.
        wait: whether Flux waits until all applied objects are ready, including pods.
        patched: patches of kustomize.
        further: additional fields of the spec.
    """
    return manifest(
        "kustomize.toolkit.fluxcd.io/v1",
        _KUSTOMIZATION,
        name,
        namespace=place,
        # A Kustomization stays ready while an artefact is fetched: only the revision shows the applied version.
        readiness=Readiness(
            conditions=("condition=Ready", f"jsonpath={{.status.lastAppliedRevision}}={artefact.digest}"),
            timeout_seconds=_TIMEOUT_SECONDS,
        ),
        spec={
            "sourceRef": {"kind": "OCIRepository", "name": artefact.name, "namespace": NAMESPACE},
            "path": path,
            "targetNamespace": target,
            "interval": "1h",
            "retryInterval": _RETRY,
            "timeout": f"{_APPLY_SECONDS[wait]}s",
            "prune": True,
            "wait": wait,
            **(further or {}),
            **given(patches=[*patched]),
        },
    )


def _patched(operator: Operator) -> list[Mapping[str, Any]]:
    return [_WITHOUT_NAMESPACE, _KEEP_CRDS, *patches(operator)]


def _suspended_release(operator: Operator, by_manifests: ByManifests) -> tuple[tuple[str, str], ...]:
    """Return the release of ``operator`` if it must be suspended before the manifests take over its objects."""
    return ((_RELEASE, operator.release),) if operator.chart in by_manifests.handed_over else ()


def _suspended(item: Manifest) -> Manifest:
    """Return the release, suspended and not awaited. helm-controller ignores it, and deletion uninstalls nothing."""
    return replace(item, body={**item.body, "spec": {**item.body["spec"], "suspend": True}}, readiness=None)
