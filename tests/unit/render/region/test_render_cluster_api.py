"""Cluster API and the providers of the region's backends, as configured for its operator."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import Manifest
from components.render.providers import KINDS
from components.render.region import cluster_api
from components.render.region.kustomizations import ByManifests
from components.render.region.region import RegionInput
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.cluster_api import ClusterApiSpec
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from jacquard.lab.rehearsal.operators.releases.provider_manifests import recorded, refusals
from tests.support.objects.rendered_objects import objects_of

SIZED = {
    "containers": [
        {
            "name": "manager",
            "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "2048Mi"}},
        }
    ]
}
"""Resources with which controllers can keep the objects of thousands of Machines in memory."""
RELABELLED = (
    '{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"labels":'
    ' {"cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": null}}}'
)
KAMAJI, K0SMOTRON = ControlPlaneBackend
METAL3, IRONCORE = BareMetalBackend


def declared(region: RegionInput) -> list[Manifest]:
    return [item for item in objects_of(region) if item.api_version == cluster_api.API]


def specs(region: RegionInput) -> dict[str, Any]:
    """Return the specs by kind and name, with upstream's release location."""
    public = replace(region, by_manifests=ByManifests())
    return {f"{item.kind} {item.name}": item.body["spec"] for item in declared(public)}


def test_k0smotron_and_ironcore_are_separate_providers(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput)

    assert specs(region) == {
        "CoreProvider cluster-api": {"version": "v1.13.5"},
        "BootstrapProvider k0sproject-k0smotron": {"version": "v2.1.0", "deployment": SIZED},
        "ControlPlaneProvider k0sproject-k0smotron": {"version": "v2.1.0", "deployment": SIZED},
        "InfrastructureProvider ironcore-metal": {
            "version": "v0.2.0",
            "fetchConfig": {
                "url": "https://github.com/ironcore-dev/cluster-api-provider-ironcore-metal/releases/latest/"
                "infrastructure-components.yaml"
            },
            "deployment": SIZED,
            "manifestPatches": [RELABELLED],
        },
    }


def test_a_later_release_of_ironcores_provider_is_not_patched(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput)
    later = region.cluster_api.model_copy(update={"ironcore_metal": "v0.2.1"})

    found = specs(replace(region, cluster_api=later))["InfrastructureProvider ironcore-metal"]

    assert (found["version"], "manifestPatches" in found) == ("v0.2.1", False)


def test_with_ironcore_nodes_use_ignition_and_kamaji_does_not_manage_its_clusters(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput, control_planes=KAMAJI)

    gates = {name: spec.get("manager", {}).get("featureGates") for name, spec in specs(region).items()}

    assert {name: gate for name, gate in gates.items() if gate} == {
        "BootstrapProvider kubeadm": {"KubeadmBootstrapFormatIgnition": True},
        "ControlPlaneProvider kamaji": {"SkipInfraClusterPatch": True},
    }


@pytest.mark.parametrize("control_planes", ControlPlaneBackend)
@pytest.mark.parametrize("metal", BareMetalBackend)
def test_all_providers_are_awaited_in_their_version_after_operator_and_namespaces(
    inputs_with: Any, control_planes: ControlPlaneBackend, metal: BareMetalBackend
) -> None:
    [region] = inputs_with(RegionInput, control_planes=control_planes, bare_metal=metal)
    rendered = objects_of(region)
    places = {f"{item.kind} {item.name}": place for place, item in enumerate(rendered)}
    namespaces = [item.name for item in rendered if item.kind == "Namespace"]

    assert len(namespaces) == len(set(namespaces))
    assert declared(region)[0].kind == "CoreProvider"
    for item in declared(region):
        version = item.body["spec"]["version"]
        assert item.readiness is not None
        assert item.readiness.conditions == ("condition=Ready", f"jsonpath={{.status.installedVersion}}={version}")
        assert places["HelmRelease cluster-api-operator"] < places[f"{item.kind} {item.name}"]
        assert item.namespace in namespaces


def test_a_release_that_is_missing_is_never_the_newest_one(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    with pytest.raises(KeyError, match="kamaji"):
        objects_of(replace(region, cluster_api=ClusterApiSpec(core="v1.13.5")))


@pytest.mark.parametrize("control_planes", ControlPlaneBackend)
@pytest.mark.parametrize("metal", BareMetalBackend)
def test_each_provider_selects_its_config_map_by_digest(
    inputs_with: Any, control_planes: ControlPlaneBackend, metal: BareMetalBackend
) -> None:
    [region] = inputs_with(RegionInput, control_planes=control_planes, bare_metal=metal)
    rendered, artefact = objects_of(region), region.by_manifests.artefacts[cluster_api.PROVIDERS]
    asked = {(KINDS[one.role], one.name): one for one in cluster_api.providers(region.spec)}
    applied = {
        item.name: item
        for item in rendered
        if item.kind == "Kustomization" and item.body["spec"]["sourceRef"]["name"] == artefact.name
    }

    assert applied.keys() == {one.label for one in asked.values()}
    for item in declared(region):
        spec, provider = item.body["spec"], asked[item.kind, item.name]
        source = applied[provider.label]
        assert spec["fetchConfig"] == {
            "selector": {
                "matchLabels": {
                    "provider.cluster.x-k8s.io/type": provider.role,
                    "provider.cluster.x-k8s.io/name": item.name,
                    "provider.cluster.x-k8s.io/version": spec["version"],
                }
            }
        }
        wanted = {"path": f"./{provider.label}", "targetNamespace": item.namespace}
        assert source.body["spec"] == {**source.body["spec"], **wanted}
        assert source.body["spec"]["sourceRef"]["name"] == artefact.name
        assert source.readiness is not None
        assert source.readiness.conditions[-1].endswith(f"={artefact.digest}")
        assert rendered.index(source) < rendered.index(item)


def test_from_a_registry_the_version_is_the_tag(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput, control_planes=KAMAJI, bare_metal=METAL3)
    versions = region.cluster_api.model_copy(update={"registry": "registry.cloud.example/cluster-api"})
    found = declared(replace(region, by_manifests=ByManifests(), cluster_api=versions))

    assert {item.kind: item.body["spec"]["fetchConfig"] for item in found} == {
        "CoreProvider": {"oci": "registry.cloud.example/cluster-api/cluster-api"},
        "BootstrapProvider": {"oci": "registry.cloud.example/cluster-api/bootstrap-kubeadm"},
        "ControlPlaneProvider": {"oci": "registry.cloud.example/cluster-api/control-plane-kamaji"},
        "InfrastructureProvider": {"oci": "registry.cloud.example/cluster-api/infrastructure-metal3"},
        "IPAMProvider": {"oci": "registry.cloud.example/cluster-api/ipam-metal3"},
    }


@pytest.mark.parametrize("control_planes", ControlPlaneBackend)
@pytest.mark.parametrize("metal", BareMetalBackend)
def test_the_operator_accepts_all_arguments_in_addition_to_those_of_the_manifest(
    inputs_with: Any, control_planes: ControlPlaneBackend, metal: BareMetalBackend
) -> None:
    [region] = inputs_with(RegionInput, control_planes=control_planes, bare_metal=metal)
    labels = {(KINDS[one.role], one.name): one.label for one in cluster_api.providers(region.spec)}

    for item in declared(region):
        label, spec = labels[item.kind, item.name], item.body["spec"]
        assert (label, spec["version"]) in recorded()
        assert list(refusals(label, spec)) == []


def test_an_argument_replaces_that_of_the_published_manifest(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput, control_planes=KAMAJI, bare_metal=METAL3)
    metal = specs(region)["InfrastructureProvider metal3"]

    assert metal["deployment"] == {
        "containers": [
            {
                "name": "manager",
                "args": {
                    "--kube-api-qps": "100",
                    "--kube-api-burst": "200",
                    "--metal3machine-concurrency": "1",
                    "--enable-bmh-name-based-preallocation": "true",
                },
                "env": [{"name": "CAPM3_FAST_TRACK", "value": "true"}],
            }
        ]
    }
