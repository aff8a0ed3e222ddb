"""The foundation of a region."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.region import cluster_api
from components.render.region.region import RegionInput
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.tenant_network import Isolation
from components.specs.region.announcements import AnnouncementSpec, BgpPeerSpec
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.objects.rendered_objects import objects_of


def by_kind(region: RegionInput, kind: str) -> list[Any]:
    return [item for item in objects_of(region) if item.kind == kind]


def test_a_change_of_immutable_dpf_fields_changes_the_name(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    platform = region.platform
    [old] = by_kind(region, "DPUFlavor")
    moved = platform.intents["unassigned"].model_copy(update={"virtual_functions": 32})
    more = replace(region, platform=replace(platform, intents={**platform.intents, "unassigned": moved}))

    [new] = (item for item in by_kind(more, "DPUFlavor") if item.name != old.name)

    assert old in by_kind(more, "DPUFlavor")
    assert old.retain
    assert by_kind(more, "DPUDeployment")[0].body["spec"]["dpus"]["flavor"] == new.name


def test_a_moved_dpu_image_is_a_new_object_next_to_the_flashed_one(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    platform = region.platform
    [old] = by_kind(region, "BFB")
    update = {"url": "https://mirror.cloud.example/bfb-3.2.0.bfb"}
    moved = platform.intents["unassigned"].model_copy(update=update)
    intents = {**platform.intents, "unassigned": moved}
    both = by_kind(replace(region, platform=replace(platform, intents=intents)), "BFB")

    [new] = (item for item in both if item.name != old.name)

    assert old in both
    assert new.name.startswith("bfb-3.2.0-")
    assert (new.body["spec"]["url"], new.body["spec"]["fileName"]) == (moved.url, f"{new.name}.bfb")


@pytest.mark.parametrize(
    ("backends", "operators"),
    [
        (
            {},
            [
                "cert-manager",
                "metallb",
                "cluster-api-operator",
                "ironcore-metal",
                "kube-prometheus-stack",
                "external-dns",
                "zot",
            ],
        ),
        (
            {"isolation": Isolation.POLICY_ONLY, "control_planes": ControlPlaneBackend.KAMAJI},
            [
                "cert-manager",
                "metallb",
                "kamaji",
                "cluster-api-operator",
                "ironcore-metal",
                "kube-prometheus-stack",
                "external-dns",
                "zot",
                "shared-a-etcd",
                "default-etcd",
            ],
        ),
        (
            {"isolation": Isolation.DPF_HBN, "bare_metal": BareMetalBackend.METAL3},
            [
                "cert-manager",
                "metallb",
                "kamaji",
                "cluster-api-operator",
                "ironic-standalone-operator",
                "baremetal-operator",
                "argo-cd",
                "node-feature-discovery",
                "maintenance-operator",
                "dpf-operator",
                "ovn-central",
                "vpc-ovn-controller",  # OVN may isolate a VPC there, since it has its addresses.
                "kube-prometheus-stack",
                "external-dns",
                "zot",
                "default-etcd",
            ],
        ),
    ],
    ids=["second everywhere", "kamaji without DPUs", "k0smotron with DPUs"],
)
def test_only_the_operators_of_the_backends_are_installed(
    inputs_with: Any, backends: dict[str, Any], operators: list[str]
) -> None:
    [region] = inputs_with(RegionInput, **backends)

    labels = {one.label for one in cluster_api.providers(region.spec)}
    brought = [item.name for item in objects_of(region) if item.kind in ("HelmRelease", "Kustomization")]
    assert [name for name in brought if name not in labels] == operators
    assert {item.namespace for item in objects_of(region)} - {None} <= {
        item.name for item in by_kind(region, "Namespace")
    }
    assert bool(by_kind(region, "DPFOperatorConfig")) is ("dpf-operator" in operators)


def test_dpf_is_installed_after_its_external_prerequisites(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    releases = {item.name: item.body["spec"] for item in by_kind(region, "HelmRelease")}

    needed = [one["name"] for one in releases["dpf-operator"]["dependsOn"]]
    beside = ["argo-cd", "node-feature-discovery", "maintenance-operator"]
    assert needed == ["cert-manager", "kamaji", *beside]
    assert list(releases).index("dpf-operator") > max(list(releases).index(name) for name in needed)
    [config] = by_kind(region, "DPFOperatorConfig")
    # DPF searches Argo CD in the namespace of its configuration.
    assert {releases[name]["targetNamespace"] for name in beside} == {config.namespace}
    assert "argoCDNamespace" not in config.body["spec"]["overrides"]


def test_kamaji_has_no_default_data_store_without_shared_ones(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput, control_planes=ControlPlaneBackend.KAMAJI)
    alone = region.spec.control_planes.model_copy(update={"data_stores": ()})
    unshared = replace(region, spec=region.spec.model_copy(update={"control_planes": alone}), data_stores=())

    [release] = [item for item in by_kind(unshared, "HelmRelease") if item.name == "kamaji"]

    assert "defaultDatastoreName" not in release.body["spec"]["values"]
    assert {"shared-a-etcd", "default-etcd"}.isdisjoint(item.name for item in by_kind(unshared, "HelmRelease"))


@pytest.mark.parametrize(
    ("clusters", "workers", "size", "limit"),
    [
        (1, 1, {"cpu": "212m", "memory": "106Mi"}, "2154Mi"),
        (100, 10, {"cpu": "1400m", "memory": "700Mi"}, "2748Mi"),
        (101, 11, {"cpu": "1412m", "memory": "706Mi"}, "2754Mi"),
    ],
)
def test_kamaji_has_upstreams_measured_resources_for_its_number_of_control_planes(
    inputs_of: Any, clusters: int, workers: int, size: dict[str, str], limit: str
) -> None:
    [region] = inputs_of(RegionInput)
    control_planes = region.spec.control_planes.model_copy(update={"max_clusters": clusters})
    sized = replace(region, spec=region.spec.model_copy(update={"control_planes": control_planes}))
    [release] = [item for item in by_kind(sized, "HelmRelease") if item.name == "kamaji"]

    values = release.body["spec"]["values"]

    assert f"--max-concurrent-tcp-reconciles={workers}" in values["extraArgs"]
    assert values["resources"] == {"requests": size, "limits": {**size, "memory": limit}}


def test_addresses_of_control_planes_are_announced_to_each_router(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    announcement = AnnouncementSpec(
        asn=64512,
        peers=(
            BgpPeerSpec.model_validate({"address": "10.0.0.2", "asn": 64513}),
            BgpPeerSpec.model_validate({"address": "192.0.2.1", "asn": 64514, "multihop": True}),
            BgpPeerSpec.model_validate(
                {"address": "10.0.1.2", "asn": 64515, "zones": ["m01", "m02"], "password_secret": "leaf"}
            ),
        ),
    )

    assert _announced(region, announcement) == {
        ("BGPPeer", "router-10-0-0-2"): {"myASN": 64512, "peerASN": 64513, "peerAddress": "10.0.0.2"},
        ("BGPPeer", "router-192-0-2-1"): {
            "myASN": 64512,
            "peerASN": 64514,
            "peerAddress": "192.0.2.1",
            "ebgpMultiHop": True,
        },
        ("BGPPeer", "router-10-0-1-2"): {
            "myASN": 64512,
            "peerASN": 64515,
            "peerAddress": "10.0.1.2",
            "nodeSelectors": [
                {
                    "matchExpressions": [
                        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["m01", "m02"]}
                    ]
                }
            ],
            "passwordSecret": {"name": "leaf"},
        },
        ("BGPAdvertisement", "control-plane-vips"): {
            "ipAddressPools": ["control-plane-vips"],
            "peers": ["router-10-0-0-2", "router-192-0-2-1", "router-10-0-1-2"],
        },
    }


@pytest.mark.parametrize("announcement", [AnnouncementSpec(one_network=True), None])
def test_addresses_of_control_planes_are_answered_for_by_arp_in_one_network(
    inputs_of: Any, announcement: AnnouncementSpec | None
) -> None:
    [region] = inputs_of(RegionInput)

    assert _announced(region, announcement) == {
        ("L2Advertisement", "control-plane-vips"): {"ipAddressPools": ["control-plane-vips"]}
    }


def _announced(region: RegionInput, announcement: AnnouncementSpec | None) -> dict[tuple[str, str], Any]:
    control_planes = region.spec.control_planes.model_copy(update={"announcement": announcement})
    changed = replace(region, spec=region.spec.model_copy(update={"control_planes": control_planes}))
    kinds = {"BGPPeer", "BGPAdvertisement", "L2Advertisement"}
    return {(item.kind, item.name): item.body["spec"] for item in objects_of(changed) if item.kind in kinds}
