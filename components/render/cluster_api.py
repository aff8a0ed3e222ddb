"""Cluster API in the management cluster: its core and the providers of the region's backends, by its operator.

The operator fetches a release, gives it flags and gates and installs it in the namespace of the object that asks for
it; it begins with the core, whatever comes first. All are awaited, so that their kinds and admission are there for the
stacks of tenants.

- The operator knows where a provider's releases are by its name, and refuses another without such a place.
- k0smotron is here only. Its chart would be a second instance of the same controllers, by default even one that leaves
  Cluster API's kinds alone.
- Metal3's provider stops without the kinds of Metal3's IP address manager (cluster-api-provider-metal3#2654), though
  no pool of addresses is rendered.
- Kamaji's provider stops at a cluster of IronCore's kind. It can be told to patch one, but its role (v0.20.0) lets it
  read none. The endpoint stands in each already, so that it may leave them alone.
- IronCore's kinds (v0.2.0) are labelled for contract v1beta2 but have the status of v1beta1, so that Cluster API would
  wait for ever for a Machine to be provisioned. They are labelled for what they do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from components.render import ironcore_metal, kamaji
from components.render.bare_metal_controllers import PACE
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.render.operators import CERT_MANAGER, Operator
from components.specs.bare_metal import BareMetalBackend
from components.specs.cluster_api import ClusterApiSpec, Release, numbers
from components.specs.region import ControlPlaneBackend, RegionSpec

OPERATOR = Operator(chart="cluster-api-operator", namespace="capi-operator-system", depends_on=(CERT_MANAGER,))
API = "operator.cluster.x-k8s.io/v1alpha2"
KINDS = {
    "core": "CoreProvider",
    "bootstrap": "BootstrapProvider",
    "control-plane": "ControlPlaneProvider",
    "infrastructure": "InfrastructureProvider",
    "ipam": "IPAMProvider",
}
"""The operator's kind by role."""
_SECONDS = 900
_RELABELLED = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"labels": {"cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": None}},
}
"""Merge patch for all kinds of a provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A part of Cluster API that is installed by itself."""

    role: str
    """Key of `KINDS`."""
    name: str
    namespace: str
    release: str
    """Which release it is part of: a key of ``cluster_api`` in the version vector."""
    releases: str | None = None
    """Where upstream publishes them; None: the operator knows."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Feature gates that differ from the default."""
    flags: Mapping[str, str] = field(default_factory=dict)
    workers: int | None = None
    """Objects it looks at side by side, where it has one number for all kinds."""

    mislabelled: Release | None = None
    """Last release whose kinds say that they keep contract v1beta2, and keep v1beta1."""

    @property
    def label(self) -> str:
        """Return what Cluster API calls it: ``bootstrap-kubeadm``; the core's name needs no role."""
        return self.name if self.role == "core" else f"{self.role}-{self.name}"


_K0SMOTRON = tuple(
    Provider(role=role, name="k0sproject-k0smotron", namespace="k0smotron", release="k0smotron")
    for role in ("bootstrap", "control-plane")
)
_METAL3 = (
    Provider(role="ipam", name="metal3", namespace="metal3-ipam-system", release="metal3", flags=PACE),
    Provider(
        role="infrastructure",
        name="metal3",
        namespace="capm3-system",
        release="metal3",
        # Upstream runs ten workers and calls more than one unsafe: two could claim one host.
        flags={**PACE, "--metal3machine-concurrency": "1"},
    ),
)
_IRONCORE = (
    Provider(
        role="infrastructure",
        name="ironcore-metal",
        namespace=ironcore_metal.NAMESPACE,
        release="ironcore_metal",
        # In the form that clusterctl asks for; the version takes the place of "latest".
        releases="https://github.com/ironcore-dev/cluster-api-provider-ironcore-metal/releases/latest/"
        "infrastructure-components.yaml",
        mislabelled="v0.2.0",
    ),
)


def providers(region: RegionSpec) -> tuple[Provider, ...]:
    """Return what ``region`` needs, the core first."""
    kamaji_hosts = region.control_planes.backend is ControlPlaneBackend.KAMAJI
    ironcore = region.bare_metal.backend is BareMetalBackend.IRONCORE_METAL
    return (
        Provider(role="core", name="cluster-api", namespace="capi-system", release="core"),
        *(_kamaji(region, ironcore=ironcore) if kamaji_hosts else _K0SMOTRON),
        *(_IRONCORE if ironcore else _METAL3),
    )


def render(region: RegionSpec, versions: ClusterApiSpec) -> Iterator[Manifest]:
    """Yield what declares the providers of ``region``, in their releases of ``versions``.

    Raises:
        KeyError: a release is missing; the rule ``cluster-api.releases`` says where to add it.
    """
    for provider in providers(region):
        version = versions.releases[provider.release]
        manager = given(
            featureGates=dict(provider.gates),
            additionalArgs=dict(provider.flags),
            maxConcurrentReconciles=provider.workers,
        )
        yield manifest(
            API,
            KINDS[provider.role],
            provider.name,
            namespace=provider.namespace,
            # It stays ready while it is upgraded: only the version tells that the new one is there.
            readiness=Readiness(
                conditions=("condition=Ready", f"jsonpath={{.status.installedVersion}}={version}"),
                timeout_seconds=_SECONDS,
            ),
            spec={
                "version": version,
                **given(
                    fetchConfig=_source(provider, versions.registry),
                    manager=manager,
                    manifestPatches=_patches(provider, version),
                ),
            },
        )


def _source(provider: Provider, registry: str | None) -> dict[str, str]:
    # The operator takes a repository without a scheme and without a digest; the version is the tag.
    return {"oci": f"{registry}/{provider.label}"} if registry else given(url=provider.releases)


def _patches(provider: Provider, version: Release) -> list[str]:
    last = provider.mislabelled
    return [json.dumps(_RELABELLED)] if last is not None and numbers(version) <= numbers(last) else []


def _kamaji(region: RegionSpec, *, ironcore: bool) -> tuple[Provider, ...]:
    return (
        Provider(
            role="bootstrap",
            name="kubeadm",
            namespace="capi-kubeadm-bootstrap-system",
            release="core",
            gates={"KubeadmBootstrapFormatIgnition": True} if ironcore else {},
        ),
        Provider(
            role="control-plane",
            name="kamaji",
            namespace=kamaji.NAMESPACE,
            release="kamaji",
            gates={"SkipInfraClusterPatch": True} if ironcore else {},
            workers=kamaji.workers(region.control_planes),
        ),
    )
