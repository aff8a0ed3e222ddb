"""Cluster API in the management cluster: its core and the providers of the region's backends, by its operator.

The operator fetches a release, gives it flags and gates and installs it in the namespace of the object that asks for
it; it begins with the core, whatever comes first. All are awaited, so that their kinds and admission are there for the
stacks of tenants.

A tag decides what a registry gives the operator, which takes no digest. Where the vector has the releases in one
artefact, its digest does: Flux puts a ConfigMap of each provider beside it, and the operator reads that and nothing
else.

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
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from components.render.backends import BARE_METAL, CONTROL_PLANES
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.render.providers import KINDS, Provider
from components.render.region.kustomizations import kustomization
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.region.cluster_api import ClusterApiSpec, Release, numbers
from components.specs.region.region import RegionSpec
from components.specs.region.versions import ManifestArtefact

PROVIDERS = "cluster-api-providers"
"""Name, among the manifests of the version vector, of the artefact that has a folder for each provider."""
OPERATOR = Operator(chart="cluster-api-operator", namespace="capi-operator-system", depends_on=(CERT_MANAGER,))
API = "operator.cluster.x-k8s.io/v1alpha2"
_SECONDS = 900
_RELABELLED = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"labels": {"cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": None}},
}
"""Merge patch that corrects the contract's label on all kinds of a provider."""


def providers(region: RegionSpec) -> tuple[Provider, ...]:
    """Return what ``region`` needs, the core first."""
    metal, control_planes = BARE_METAL[region.bare_metal.backend], CONTROL_PLANES[region.control_planes.backend]
    return (
        Provider(role="core", name="cluster-api", namespace="capi-system", release="core"),
        *(
            replace(provider, gates={**provider.gates, **metal.gates.get(provider.name, {})})
            for provider in control_planes.providers(region.control_planes)
        ),
        *metal.providers,
    )


def render(
    region: RegionSpec, versions: ClusterApiSpec, artefact: ManifestArtefact | None = None
) -> Iterator[Manifest]:
    """Yield what declares the providers of ``region``, in their releases of ``versions``.

    Args:
        region: that has the backends.
        versions: what is installed.
        artefact: that holds these releases; None where the operator fetches each by itself.

    Raises:
        KeyError: a release is missing; the rule ``cluster-api.releases`` says where to add it.
    """
    if artefact:
        for one in providers(region):
            yield kustomization(one.label, artefact, one.namespace, path=f"./{one.label}")
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
                    fetchConfig=_selected(provider, version) if artefact else _source(provider, versions.registry),
                    manager=manager,
                    manifestPatches=_patches(provider, version),
                ),
            },
        )


def _selected(provider: Provider, version: Release) -> dict[str, Any]:
    # Labels of the ConfigMap that the operator's own plug-in makes; the operator takes exactly one.
    about = {"type": provider.role, "name": provider.name, "version": version}
    return {"selector": {"matchLabels": {f"provider.cluster.x-k8s.io/{key}": value for key, value in about.items()}}}


def _source(provider: Provider, registry: str | None) -> dict[str, str]:
    # The operator takes a repository without a scheme and without a digest; the version is the tag.
    return {"oci": f"{registry}/{provider.label}"} if registry else given(url=provider.releases)


def _patches(provider: Provider, version: Release) -> list[str]:
    last = provider.mislabelled
    return [json.dumps(_RELABELLED)] if last is not None and numbers(version) <= numbers(last) else []
