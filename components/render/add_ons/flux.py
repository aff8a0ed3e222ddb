"""The hand-over of a cluster to its tenant: Flux inside the cluster, and the repository that it applies there.

It is no Flux of the platform's. What fetches the repository and builds what is in it are pods of the tenant's cluster,
in the tenant's VPC: the management cluster fetches no URL that a tenant chose and holds no login of a tenant's, and
whatever the repository says, it says inside that cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from components.render.add_ons.pod_priorities import SERVICE
from components.render.manifest import Manifest
from components.render.objects import given, manifest, namespace
from components.render.region.kustomizations import ByManifests, installed_in
from components.render.region.operators import Operator
from components.specs.add_ons.flux import FluxSpec
from components.specs.region.versions import Chart

NAMESPACE = "flux-system"
"""Namespace that upstream's manifests are written for."""
OPERATOR = Operator(chart="flux", namespace=NAMESPACE)
_NAME = "tenant"
_SOURCE = "GitRepository"


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxInput:
    """The repository that one cluster is handed over to."""

    name: str
    cluster: str
    spec: FluxSpec
    placement: Mapping[str, Any]
    """Where the platform's services run in the cluster."""
    by_manifests: ByManifests = field(default_factory=ByManifests)
    """What comes by manifests, instead of by a chart."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster, by chart."""

    def render(self) -> tuple[Manifest, ...]:
        """Return what installs Flux, awaited for its kinds, and the repository, for which nobody waits."""
        flux = replace(OPERATOR, pods={**self.placement, "priorityClassName": SERVICE})
        return (
            # It stays with what is in it: Flux finalizes that, and is gone by then.
            replace(namespace(NAMESPACE, cluster=self.cluster), retain=True),
            *installed_in((flux,), self.by_manifests, self.cluster, self.pins),
            self._repository(),
            self._applied(),
        )

    @property
    def _interval(self) -> str:
        return f"{self.spec.interval_minutes}m"

    def _repository(self) -> Manifest:
        spec = self.spec
        return self._own(
            "source.toolkit.fluxcd.io/v1",
            _SOURCE,
            url=spec.url,
            ref=given(branch=spec.branch, semver=spec.semver),
            interval=self._interval,
            **given(secretRef={"name": spec.secret} if spec.secret else None),
        )

    def _applied(self) -> Manifest:
        return self._own(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            sourceRef={"kind": _SOURCE, "name": _NAME},
            path=f"./{self.spec.path or ''}",
            interval=self._interval,
            retryInterval="2m",
            timeout="5m",
            prune=True,
            # Whoever deletes it does not mean what it has applied.
            deletionPolicy="Orphan",
        )

    def _own(self, api_version: str, kind: str, **spec: Any) -> Manifest:
        """Return an object that stays when the hand-over ends: Flux has finalizers on it, and its nodes may be gone."""
        place: dict[str, Any] = {"namespace": NAMESPACE, "cluster": self.cluster}
        return manifest(api_version, kind, _NAME, **place, retain=True, spec=spec)
