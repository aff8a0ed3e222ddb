"""Images and manifests that a platform downloads, and those pinned by digest."""

from __future__ import annotations

import pytest

from components.render.network.device_plugins import IMAGES
from components.render.providers import KINDS
from components.render.region.cluster_api import PROVIDERS
from components.reports.platform_images import PlatformImage, platform_images
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.manifest_pins import cluster_api_by_tag
from tests.support.network.on_infiniband import on_infiniband

TAG_ALONE = {"DPUServiceTemplate", "KamajiControlPlane", "K0smotronControlPlane", *KINDS.values()}
"""Kinds whose controllers accept no digest: DPF's, those of the Cluster API operator and of control planes."""


@pytest.mark.parametrize("name", REFERENCES)
def test_every_artefact_is_pinned_by_digest_if_upstream_supports_it(name: str) -> None:
    found = platform_images(reference(name))

    assert {image.form for image in found.images if image.digest is None} == found.by_tag.keys()
    assert {kind for image in found.images if image.digest is None for kind in image.needed_by} <= TAG_ALONE
    assert "it is not pinned" not in found.by_tag.values()


@pytest.mark.parametrize("name", REFERENCES)
def test_everything_is_pulled_from_the_regions_registry(name: str) -> None:
    found = platform_images(reference(name))

    assert {image.name.removeprefix("oci://").partition("/")[0] for image in found.images} == {"registry.cloud.example"}


def test_manifests_and_tags_are_reported_as_such() -> None:
    laptop = reference("laptop")
    manifests = {one.name for one in platform_images(laptop).images if one.form == "manifests"}
    tags = platform_images(cluster_api_by_tag(laptop))

    assert {name.rpartition("/")[2] for name in manifests} == {
        "ironic-standalone-operator",
        "kubevirt-operator",
        "cdi-operator",
        "flux",
    }
    assert {one.name.rpartition("/")[2]: one.version for one in tags.images if one.form == "providers"} == {
        "cluster-api": "v1.13.5",
        "bootstrap-kubeadm": "v1.13.5",
        "control-plane-kamaji": "v0.20.0",
        "infrastructure-metal3": "v1.13.2",
        "ipam-metal3": "v1.13.2",
    }
    assert "supports tags only" in tags.by_tag["providers"]


def test_each_form_has_its_version_and_digest_if_its_kind_has_them() -> None:
    environment = reference("us-east-04a")
    versions = environment.versions
    images = {image.name: image for image in platform_images(environment).images if image.form != "dpu-charts"}
    chart, tool = versions.releases("topolvm")[0], versions.tool("multus-cni")

    assert images[chart.url] == PlatformImage(
        what="charts",
        form="charts",
        name=chart.url,
        version=chart.version,
        digest=chart.digest,
        needed_by={"OCIRepository": 1},
    )
    assert images[versions.releases("baremetal-operator")[0].url].form == "own-charts"
    assert (images[tool.image].version, images[tool.image].digest) == (None, tool.digest)
    [artefact] = [one for one in versions.manifests if one.name == PROVIDERS]
    providers = images[artefact.url]
    assert (providers.form, providers.version, providers.digest) == ("cluster-api", "2026.11.1", artefact.digest)
    etcd = versions.tool("etcd")
    assert (images[etcd.image].version, images[etcd.image].digest) == (None, etcd.digest)
    assert len({image.form for image in images.values()}) == 5


@pytest.mark.parametrize("use", IMAGES)
def test_the_device_plugin_is_pinned_by_digest(use: PortUse) -> None:
    region = on_infiniband(reference("laptop"), RdmaSpec(ports=use))
    [plugin] = [one for one in platform_images(region).images if one.needed_by == {"NicNodePolicy": 1}]
    tool = region.versions.tool(IMAGES[use])

    assert (plugin.name, plugin.version, plugin.digest) == (tool.image, None, tool.digest)


def test_images_chosen_by_controllers_are_listed_with_their_registry() -> None:
    lab = reference("lab")
    planes = lab.region.control_planes.model_copy(update={"registry": None})
    region = lab.region.model_copy(update={"control_planes": planes})
    versions = lab.versions.model_copy(update={"ironic": None})
    found = platform_images(lab.model_copy(update={"region": region, "versions": versions}))

    assert {
        (image.name, image.version)
        for image in found.images
        if image.needed_by.keys() & {"Ironic", "KamajiControlPlane"}
    } == {
        ("quay.io/metal3-io/ironic", None),
        ("quay.io/metal3-io/ironic-ipa-downloader", "latest"),
        ("registry.k8s.io/kube-apiserver", "v1.35.2"),
    }
    assert "set ironic in catalog/versions.yaml" in found.by_tag["images"]
