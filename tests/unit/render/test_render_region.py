"""The foundation of a region."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.render.region import RegionInput
from components.specs.bare_metal import BareMetalBackend
from components.specs.environment import Environment
from components.specs.region import ControlPlaneBackend
from components.specs.tenant_network import Isolation


def by_kind(region: RegionInput, kind: str) -> list[Any]:
    return [item for item in region.render() if item.kind == kind]


def test_each_cluster_and_tenant_has_a_namespace_that_names_its_owner(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    labels = {item.name: item.body["metadata"]["labels"] for item in by_kind(region, "Namespace")}

    for cluster, tenant in region.clusters.items():
        assert labels[cluster]["jacquard.dev/tenant"] == labels[f"tenant-{tenant}"]["jacquard.dev/tenant"] == tenant


def test_the_namespaces_of_a_tenant_say_whom_to_tell_and_ask(inputs_of: Any, laptop: Environment) -> None:
    [region] = inputs_of(RegionInput)
    notes = {item.name: item.body["metadata"].get("annotations") for item in by_kind(region, "Namespace")}

    assert notes["operators"] == {"jacquard.dev/versions": laptop.versions.release}
    for tenant in laptop.tenants:
        told = {
            "jacquard.dev/contact-alerts": tenant.contacts.alerts,
            "jacquard.dev/contact-changes": tenant.contacts.changes,
            "jacquard.dev/contact-maintenance": tenant.contacts.maintenance or tenant.contacts.changes,
            "jacquard.dev/change-approval": tenant.changes.approval,
        }
        of_tenant = [notes[f"tenant-{tenant.tenant}"], *(notes[cluster.name] for cluster in tenant.clusters)]
        assert [note.items() >= told.items() for note in of_tenant] == [True] * len(of_tenant)
        assert [note["jacquard.dev/contract"] for note in of_tenant] == [
            ", ".join(f"{part.nodes} {part.instance_type}" for part in tenant.contract)
        ] * len(of_tenant)


def test_every_object_has_its_namespace_and_every_release_its_pinned_chart(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    namespaces = {item.name for item in by_kind(region, "Namespace")}
    charts = {item.name: item.body["spec"]["ref"] for item in by_kind(region, "OCIRepository")}

    assert {item.namespace for item in region.render()} - {None} <= namespaces
    for release in by_kind(region, "HelmRelease"):
        spec = release.body["spec"]
        assert spec["targetNamespace"] in namespaces
        assert charts[spec["chartRef"]["name"]]["digest"].startswith("sha256:")
        assert spec["driftDetection"] == {"mode": "enabled"}
        assert release.readiness is not None


def test_every_release_waits_for_releases_that_come_before_it(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    seen: set[str] = set()

    for release in by_kind(region, "HelmRelease"):
        assert {need["name"] for need in release.body["spec"].get("dependsOn", [])} <= seen
        seen.add(release.name)


def test_data_stores_are_protected_and_hold_references_only(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    for store in by_kind(region, "DataStore"):
        tls = store.body["spec"]["tlsConfig"]
        sources = [source for part in tls.values() for source in part.values()]
        assert store.protect
        assert [list(source) for source in sources] == [["secretReference"]] * 4


def test_no_service_takes_a_control_plane_address_by_accident(inputs_of: Any, laptop: Environment) -> None:
    [region] = inputs_of(RegionInput)
    [pool] = by_kind(region, "IPAddressPool")

    assert pool.body["spec"] == {
        "addresses": [str(laptop.region.networks.control_plane_vips)],
        "autoAssign": False,
    }


def test_dpus_are_in_zero_trust_and_flashed_only_when_somebody_lets_them(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    [flavor], [deployment] = by_kind(region, "DPUFlavor"), by_kind(region, "DPUDeployment")
    dpus = deployment.body["spec"]["dpus"]

    assert flavor.body["spec"]["dpuMode"] == "zero-trust"
    assert (dpus["secureBoot"], dpus["nodeEffect"], dpus["dpuSetStrategy"]) == (
        True,
        {"hold": True},
        {"type": "OnDelete"},
    )
    assert dpus["flavor"] == flavor.name


def test_what_dpf_holds_immutable_gets_a_new_name_when_it_changes(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    platform = region.platform
    [old] = by_kind(region, "DPUFlavor")
    moved = platform.intents["unassigned"].model_copy(update={"virtual_functions": 32, "revision": 2})
    more = replace(region, platform=replace(platform, intents={**platform.intents, "unassigned": moved}))

    [new] = (item for item in by_kind(more, "DPUFlavor") if item.name != old.name)

    assert old in by_kind(more, "DPUFlavor")
    assert old.retain
    assert by_kind(more, "DPUDeployment")[0].body["spec"]["dpus"]["flavor"] == new.name


def test_a_dpu_image_that_moved_is_another_object_beside_the_one_that_dpus_were_flashed_from(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    platform = region.platform
    [old] = by_kind(region, "BFB")
    update = {"url": "https://mirror.cloud.example/bfb-3.2.0.bfb", "revision": 2}
    moved = platform.intents["unassigned"].model_copy(update=update)
    intents = {**platform.intents, "unassigned": moved}
    both = by_kind(replace(region, platform=replace(platform, intents=intents)), "BFB")

    [new] = (item for item in both if item.name != old.name)

    assert old in both
    assert new.name.startswith("bfb-3.2.0-")
    assert (new.body["spec"]["url"], new.body["spec"]["fileName"]) == (moved.url, f"{new.name}.bfb")


def test_ovn_is_there_only_when_a_vpc_uses_it(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    assert [item.name for item in by_kind(replace(region, ovn=True), "IsolationClass")] == ["ovn"]
    assert by_kind(replace(region, ovn=False), "IsolationClass") == []


@pytest.mark.parametrize(
    ("backends", "operators"),
    [
        (
            {},
            ["cert-manager", "metallb", "cluster-api-operator", "ironcore-metal", "kube-prometheus-stack"],
        ),
        (
            {"isolation": Isolation.POLICY_ONLY, "control_planes": ControlPlaneBackend.KAMAJI},
            ["cert-manager", "metallb", "kamaji", "cluster-api-operator", "ironcore-metal", "kube-prometheus-stack"],
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
                "dpf-operator",
                "kube-prometheus-stack",
            ],
        ),
    ],
    ids=["second everywhere", "kamaji without DPUs", "k0smotron with DPUs"],
)
def test_only_the_operators_of_the_backends_are_installed(
    inputs_with: Any, backends: dict[str, Any], operators: list[str]
) -> None:
    [region] = inputs_with(RegionInput, **backends)

    assert [item.name for item in by_kind(region, "HelmRelease")] == operators
    assert {item.namespace for item in region.render()} - {None} <= {item.name for item in by_kind(region, "Namespace")}
    assert bool(by_kind(region, "DataStore")) is ("kamaji" in operators)
    assert bool(by_kind(region, "DPFOperatorConfig")) is ("dpf-operator" in operators)


def test_kamaji_has_no_default_data_store_where_clusters_share_none(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput, control_planes=ControlPlaneBackend.KAMAJI)
    alone = region.spec.control_planes.model_copy(update={"data_stores": ()})
    unshared = replace(region, spec=region.spec.model_copy(update={"control_planes": alone}))

    [release] = [item for item in by_kind(unshared, "HelmRelease") if item.name == "kamaji"]

    assert "defaultDatastoreName" not in release.body["spec"]["values"]
    assert by_kind(unshared, "DataStore") == []


@pytest.mark.parametrize(
    ("clusters", "workers", "size"),
    [
        (1, 1, {"cpu": "212m", "memory": "106Mi"}),
        (100, 10, {"cpu": "1400m", "memory": "700Mi"}),
        (101, 11, {"cpu": "1412m", "memory": "706Mi"}),
    ],
)
def test_kamaji_has_what_upstream_measured_for_as_many_control_planes(
    inputs_of: Any, clusters: int, workers: int, size: dict[str, str]
) -> None:
    [region] = inputs_of(RegionInput)
    control_planes = region.spec.control_planes.model_copy(update={"max_clusters": clusters})
    sized = replace(region, spec=region.spec.model_copy(update={"control_planes": control_planes}))
    [release] = [item for item in by_kind(sized, "HelmRelease") if item.name == "kamaji"]

    values = release.body["spec"]["values"]

    assert values["extraArgs"] == [f"--max-concurrent-tcp-reconciles={workers}"]
    assert values["resources"] == {"requests": size, "limits": size}
