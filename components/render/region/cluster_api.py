"""Cluster API in the management cluster: core and the providers of the region's backends, installed by its operator.

The operator fetches a release, sets flags and feature gates, and installs it in the namespace of the provider object.
The operator always installs the core first. All providers are awaited, so that their CRDs and webhooks are available to
the stacks of tenants.

The operator pulls releases from a registry only by tag, without support for digests. If the version vector contains an
artefact with all releases, the artefact is pinned by digest. Flux then creates a ConfigMap for each provider, and the
operator reads only this ConfigMap.

- The operator knows the release URLs of well-known providers, and requires a URL for other providers.
- k0smotron is installed only as a provider. Its chart would run a second instance of the same controllers, which by
  default does not handle the kinds of Cluster API.
- Metal3's provider exits without the CRDs of Metal3's IP address manager (cluster-api-provider-metal3#2654), even if
  no address pool is rendered.
- Kamaji's provider fails on a cluster of IronCore's kind. The provider can patch such clusters, but its role (v0.20.0)
  does not permit reading them. The patch is disabled, because such clusters already contain the endpoint.
- Flags are arguments of the container, which replace those of the published Deployment. The operator does not install a
  provider whose ``additionalArgs`` contain an argument of this Deployment (CAPIO, component_customizer.go).
- IronCore's kinds (v0.2.0) are labelled for contract v1beta2 but have the status of v1beta1. Cluster API would
  therefore wait forever for a provisioned Machine. A patch corrects the labels.
"""

import json
from collections.abc import Iterator
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
from components.specs.struct import replace

PROVIDERS = "cluster-api-providers"
"""Name of the artefact with a folder for each provider, an entry of ``manifests`` in the version vector."""
OPERATOR = Operator(chart="cluster-api-operator", namespace="capi-operator-system", depends_on=(CERT_MANAGER,))
API = "operator.cluster.x-k8s.io/v1alpha2"
_SECONDS = 900
_RELABELLED = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"labels": {"cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": None}},
}
"""Merge patch that corrects the contract label on all CRDs of a provider."""


def providers(region: RegionSpec) -> tuple[Provider, ...]:
    """Return the providers of ``region``, starting with the core."""
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
    """Yield the provider objects of ``region``, with the releases in ``versions``.

    Args:
        region: the region, which determines the backends.
        versions: the releases to install.
        artefact: the artefact with all releases; None if the operator fetches each release.

    Raises:
        KeyError: a release is missing; the rule ``cluster-api.releases`` reports the missing field.
    """
    if artefact:
        for provider in providers(region):
            yield kustomization(provider.label, artefact, provider.namespace, path=f"./{provider.label}")
    for provider in providers(region):
        version = versions.releases[provider.release]
        manager = given(
            featureGates=dict(provider.gates),
            maxConcurrentReconciles=provider.workers,
        )
        yield manifest(
            API,
            KINDS[provider.role],
            provider.name,
            namespace=provider.namespace,
            # The provider stays ready during an upgrade: only the version shows that the new release is installed.
            readiness=Readiness(
                conditions=("condition=Ready", f"jsonpath={{.status.installedVersion}}={version}"),
                timeout_seconds=_SECONDS,
            ),
            spec={
                "version": version,
                **given(
                    fetchConfig=_selected(provider, version) if artefact else _source(provider, versions.registry),
                    manager=manager,
                    deployment=_customized(provider),
                    manifestPatches=_patches(provider, version),
                ),
            },
        )


def _customized(provider: Provider) -> dict[str, Any]:
    variables = [{"name": name, "value": value} for name, value in provider.variables.items()]
    changed = given(args=dict(provider.flags), env=variables, resources=dict(provider.resources))
    return {"containers": [{"name": provider.container, **changed}]} if changed else {}


def _selected(provider: Provider, version: Release) -> dict[str, Any]:
    # The operator's plug-in sets these labels. The selector must match exactly one ConfigMap.
    about = {"type": provider.role, "name": provider.name, "version": version}
    return {"selector": {"matchLabels": {f"provider.cluster.x-k8s.io/{key}": value for key, value in about.items()}}}


def _source(provider: Provider, registry: str | None) -> dict[str, str]:
    # The operator expects a repository without scheme and digest, and uses the version as tag.
    return {"oci": f"{registry}/{provider.label}"} if registry else given(url=provider.releases)


def _patches(provider: Provider, version: Release) -> list[str]:
    last = provider.mislabelled
    return [json.dumps(_RELABELLED)] if last is not None and numbers(version) <= numbers(last) else []
