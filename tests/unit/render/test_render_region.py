"""The foundation of a region."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.render.region import RegionInput, render_region
from components.specs.environment import Environment


def by_kind(region: RegionInput, kind: str) -> list[Any]:
    return [item for item in render_region(region) if item.kind == kind]


def test_each_cluster_and_tenant_has_a_namespace_that_names_its_owner(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    labels = {item.name: item.body["metadata"]["labels"] for item in by_kind(region, "Namespace")}

    for cluster, tenant in region.clusters.items():
        assert labels[cluster]["jacquard.dev/tenant"] == labels[f"tenant-{tenant}"]["jacquard.dev/tenant"] == tenant


def test_every_object_has_its_namespace_and_every_release_its_pinned_chart(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    namespaces = {item.name for item in by_kind(region, "Namespace")}
    charts = {item.name: item.body["spec"]["ref"] for item in by_kind(region, "OCIRepository")}

    assert {item.namespace for item in render_region(region)} - {None} <= namespaces
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
    more = replace(region, platform=replace(region.platform, virtual_functions=32))

    [old], [new] = by_kind(region, "DPUFlavor"), by_kind(more, "DPUFlavor")

    assert old.retain
    assert old.name != new.name
    assert by_kind(more, "DPUDeployment")[0].body["spec"]["dpus"]["flavor"] == new.name


def test_ovn_is_there_only_when_a_vpc_uses_it(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    assert [item.name for item in by_kind(replace(region, ovn=True), "IsolationClass")] == ["ovn"]
    assert by_kind(replace(region, ovn=False), "IsolationClass") == []
