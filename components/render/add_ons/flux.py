"""Flux inside a tenant cluster, and the tenant's repository that it applies.

This Flux is separate from the platform's Flux. Pods of the tenant cluster, in the tenant's VPC, fetch and build the
repository. The management cluster therefore fetches no tenant URLs and has no tenant credentials, and the repository
can affect only this cluster.
"""

from collections.abc import Mapping
from typing import Any

from components.render.add_ons.pod_priorities import SERVICE
from components.render.manifest import Manifest
from components.render.objects import given, manifest, namespace
from components.render.region.kustomizations import ByManifests, installed_in
from components.render.region.operators import Operator
from components.specs.add_ons.flux import FluxSpec
from components.specs.region.versions import Chart
from components.specs.struct import Struct, field, replace

NAMESPACE = "flux-system"
"""Namespace used in upstream's manifests, also in the management cluster."""
OPERATOR = Operator(chart="flux", namespace=NAMESPACE)
_NAME = "tenant"
_SOURCE = "GitRepository"


class FluxInput(Struct):
    """Repository that Flux applies in one cluster."""

    name: str
    cluster: str
    spec: FluxSpec
    placement: Mapping[str, Any]
    """Placement of the platform's services in the cluster."""
    by_manifests: ByManifests = field(default_factory=ByManifests)
    """Operators that are installed from manifests instead of charts."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the installation of Flux, awaited because of its CRDs, and the repository, which is not awaited."""
        flux = replace(OPERATOR, pods={**self.placement, "priorityClassName": SERVICE})
        return (
            # The namespace is retained: its objects have finalizers of Flux, and Flux is deleted first.
            replace(namespace(NAMESPACE, cluster=self.cluster), retain=True),
            *installed_in((flux,), self.by_manifests, self.cluster, self.pins),
            self._repository(),
            self._kustomization(),
        )

    @property
    def _interval(self) -> str:
        return f"{self.spec.interval_minutes}m"

    def _repository(self) -> Manifest:
        spec = self.spec
        return self._retained(
            "source.toolkit.fluxcd.io/v1",
            _SOURCE,
            url=spec.url,
            ref=given(branch=spec.branch, semver=spec.semver),
            interval=self._interval,
            **given(secretRef={"name": spec.secret} if spec.secret else None),
        )

    def _kustomization(self) -> Manifest:
        return self._retained(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            sourceRef={"kind": _SOURCE, "name": _NAME},
            path=f"./{self.spec.path or ''}",
            interval=self._interval,
            retryInterval="2m",
            timeout="5m",
            prune=True,
            # Deleting the Kustomization must not delete the objects that it has applied.
            deletionPolicy="Orphan",
        )

    def _retained(self, api_version: str, kind: str, **spec: Any) -> Manifest:
        """Return an object that is retained on removal: it has finalizers of Flux, whose nodes may be deleted."""
        place: dict[str, Any] = {"namespace": NAMESPACE, "cluster": self.cluster}
        return manifest(api_version, kind, _NAME, **place, retain=True, spec=spec)
