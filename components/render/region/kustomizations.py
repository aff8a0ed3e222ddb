"""How Flux brings an operator: by the release of a chart, or by manifests where upstream publishes nothing else.

The version vector decides which. Manifests come as one OCIRepository by digest and a Kustomization wherever the
operator is wanted. Two things of them are left out. Their Namespace, which is rendered with labels that they lack, and
would go with everything in it once the Kustomization goes. And the right to take kinds away, with all objects of them.

Helm takes away what it installed once a release goes, unless the release is suspended. So whatever stands among charts
and manifests alike has both: the manifests take over what is there, and the release rests until its chart has left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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

_RELEASE, _KUSTOMIZATION = "HelmRelease", "Kustomization"
_RETRY = "2m"
_APPLY_SECONDS = {True: 600, False: 300}
"""How long Flux waits for pods, and how long for calls alone where it waits for no pods."""
_TIMEOUT_SECONDS = 900
_WITHOUT_NAMESPACE = deleted("", "Namespace")
_KINDS_STAY = {
    "target": {"group": "apiextensions.k8s.io", "kind": "CustomResourceDefinition"},
    "patch": json.dumps(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {**ANY, "annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}},
        }
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ByManifests:
    """Which operators come by manifests; all others come by the release of a chart."""

    artefacts: Mapping[str, ManifestArtefact] = field(default_factory=dict)
    """Artefacts of the version vector, by name."""
    handed_over: frozenset[str] = frozenset()
    """Names of those among them that have a chart as well."""

    @classmethod
    def taken(cls, versions: VersionVector, wanted: Iterable[str]) -> ByManifests:
        """Return what ``versions`` has of what is ``wanted``, by name."""
        names = {*wanted}
        found = {one.name: one for one in versions.manifests if one.name in names}
        return cls(artefacts=found, handed_over=frozenset(found.keys() & {chart.name for chart in versions.charts}))

    def of(self, operator: Operator) -> ManifestArtefact | None:
        """Return the manifests that bring ``operator``; None where its chart does."""
        return self.artefacts.get(operator.chart)


def repository(artefact: ManifestArtefact) -> Manifest:
    """Return the source of ``artefact``."""
    return source(artefact, NAMESPACE, {keys.MANIFESTS_OF: artefact.made_from})


def installed(operators: Iterable[Operator], by_manifests: ByManifests) -> Iterator[Manifest]:
    """Yield what brings ``operators`` into the management cluster, in their order, resting releases first.

    Flux lets a release depend on releases alone. What depends on manifests, or comes by them, is applied later instead.
    """
    every = tuple(operators)
    yield from (_resting(release(one)) for one in every if one.chart in by_manifests.handed_over)
    kinds = {one.release: _KUSTOMIZATION if by_manifests.of(one) else _RELEASE for one in every}
    for one in every:
        if artefact := by_manifests.of(one):
            found = kustomization(one.release, artefact, one.namespace, patched=_patched(one))
            yield replace(found, after=(*_rests(one, by_manifests), *((kinds[name], name) for name in one.depends_on)))
        else:
            releases = tuple(name for name in one.depends_on if kinds[name] == _RELEASE)
            others = tuple((_KUSTOMIZATION, name) for name in one.depends_on if name not in releases)
            yield replace(release(replace(one, depends_on=releases)), after=others)


def installed_in(
    operators: Iterable[Operator], by_manifests: ByManifests, cluster: str, pins: Mapping[str, Chart]
) -> Iterator[Manifest]:
    """Yield what brings ``operators`` into tenant cluster ``cluster``, awaited; none of them depends on another.

    Charts among ``pins`` come from sources of their own.
    Flux waits for no pods there: a cluster whose nodes are still booting has the operators' kinds all the same.
    """
    every = tuple(operators)
    releases = {one.release: tenant_release(one, cluster, pins, awaited=True) for one in every}
    yield from sources(every, cluster, pins)
    yield from (_resting(releases[one.release]) for one in every if one.chart in by_manifests.handed_over)
    for one in every:
        if artefact := by_manifests.of(one):
            patched, there = _patched(one), inside(cluster)
            found = kustomization(
                one.release, artefact, one.namespace, place=cluster, wait=False, patched=patched, further=there
            )
            yield replace(found, after=_rests(one, by_manifests))
        else:
            yield releases[one.release]


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
    """Return what applies a folder of ``artefact`` in namespace ``target``; it is awaited at the artefact's digest.

    Args:
        name: of the Kustomization.
        artefact: whose manifests are applied.
        target: namespace that all objects are put into, whatever the manifests say.
        place: namespace of the Kustomization itself, in the management cluster.
        path: folder in the artefact.
        wait: whether Flux waits until everything that it applied is ready, pods too.
        patched: patches of kustomize.
        further: fields of its spec besides these.
    """
    return manifest(
        "kustomize.toolkit.fluxcd.io/v1",
        _KUSTOMIZATION,
        name,
        namespace=place,
        # It stays ready while another artefact is fetched: only the revision tells what was applied.
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
    return [_WITHOUT_NAMESPACE, _KINDS_STAY, *patches(operator)]


def _rests(operator: Operator, by_manifests: ByManifests) -> tuple[tuple[str, str], ...]:
    """Return the release of ``operator`` if it must rest before manifests take over."""
    return ((_RELEASE, operator.release),) if operator.chart in by_manifests.handed_over else ()


def _resting(item: Manifest) -> Manifest:
    """Return a release that helm-controller leaves alone, and whose end uninstalls nothing; nobody waits for it."""
    return replace(item, body={**item.body, "spec": {**item.body["spec"], "suspend": True}}, readiness=None)
