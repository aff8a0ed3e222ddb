"""Bare-metal controllers: each with its own Ironic, and with the hosts of its own clusters only."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.hosts.bare_metal_controllers import CHART, shard_namespace
from components.render.manifest import Manifest
from components.render.region.region import RegionInput
from components.specs.hosts.bare_metal import BootMethod, Cleaning, ControllerSpec
from components.specs.struct import replace
from tests.support.objects.rendered_objects import objects_of

NET, MEDIA, IDLE = "net", "media", "idle"
CONTROLLERS = (
    ControllerSpec.model_validate(
        {
            "name": NET,
            "boot": "network-boot",
            "max_hosts": 40,
            "dhcp": {"network": "10.0.8.0/24", "gateway": "10.0.8.1", "first": "10.0.8.10", "last": "10.0.8.99"},
        }
    ),
    *(ControllerSpec(name=name, boot=BootMethod.VIRTUAL_MEDIA, max_hosts=40) for name in (MEDIA, IDLE)),
)
TLS = {"certificateName": "ironic-tls", "bmcCA": {"kind": "Secret", "name": "bmc-ca"}}
WATCHED = {NET: ("acme-train",), MEDIA: ("globex-lab", "inventory")}


@pytest.fixture
def sharded(inputs_of: Any) -> tuple[Manifest, ...]:
    [region] = inputs_of(RegionInput)
    metal = region.spec.bare_metal.model_copy(update={"controllers": CONTROLLERS, "free_hosts": MEDIA})
    spec = region.spec.model_copy(update={"bare_metal": metal})
    return objects_of(replace(region, spec=spec, watched=WATCHED))


@pytest.fixture
def alone(inputs_of: Any) -> tuple[Manifest, ...]:
    [region] = inputs_of(RegionInput)
    return tuple(objects_of(region))


def release(rendered: tuple[Manifest, ...], name: str) -> dict[str, Any]:
    [found] = [item for item in rendered if item.kind == "HelmRelease" and item.name == name]
    return dict(found.body["spec"])


def environment(rendered: tuple[Manifest, ...], name: str) -> dict[str, Any]:
    entries = release(rendered, name)["values"]["envs"]
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in entries}


def test_each_controller_watches_the_namespaces_of_its_clusters_and_none_watches_all(
    sharded: tuple[Manifest, ...],
) -> None:
    releases = [CHART, *map(shard_namespace, (NET, MEDIA, IDLE))]

    watched = [environment(sharded, name)["WATCH_NAMESPACE"].split(",") for name in releases]

    assert watched == [
        [f"{CHART}-system"],
        [shard_namespace(NET), "acme-train"],
        [shard_namespace(MEDIA), "globex-lab", "inventory"],
        [shard_namespace(IDLE)],
    ]


def test_only_a_controller_for_network_boot_answers_hosts(sharded: tuple[Manifest, ...]) -> None:
    networking = {item.namespace: item.body["spec"]["networking"] for item in sharded if item.kind == "Ironic"}

    assert networking[shard_namespace(NET)] == {
        "interface": "br-boot",
        "dhcp": {
            "networkCIDR": "10.0.8.0/24",
            "gatewayAddress": "10.0.8.1",
            "rangeBegin": "10.0.8.10",
            "rangeEnd": "10.0.8.99",
        },
    }
    assert networking[shard_namespace(MEDIA)] == {"interface": "br-mgmt"}
    assert "PROVISIONING_NETWORK_DISABLED" not in environment(sharded, shard_namespace(NET))
    assert environment(sharded, shard_namespace(MEDIA))["PROVISIONING_NETWORK_DISABLED"] == "true"


def test_one_controller_for_all_hosts_has_its_own_ironic_and_watches_every_namespace(
    alone: tuple[Manifest, ...],
) -> None:
    [ironic] = [item for item in alone if item.kind == "Ironic"]

    variables = environment(alone, CHART)
    assert (variables["IRONIC_NAME"], variables["WATCH_NAMESPACE"], variables["PROVISIONING_LIMIT"]) == (
        ironic.name,
        "",
        "20",
    )
    assert ironic.namespace == f"{CHART}-system"
    spec = ironic.body["spec"]
    assert {key: spec[key] for key in ("networking", "tls")} == {"networking": {"interface": "br-mgmt"}, "tls": TLS}
    assert not spec.keys() & {"nodeSelector", "extraConfig"}
    [operator] = [item for item in alone if item.kind == "HelmRelease" and item.name == CHART]
    assert ("Kustomization", "ironic-standalone-operator") in operator.after


@pytest.mark.parametrize("region", ["alone", "sharded"])
def test_each_ironic_serves_with_a_certificate_of_the_name_that_its_operator_asks(
    region: str, request: pytest.FixtureRequest
) -> None:
    rendered = request.getfixturevalue(region)
    ironics = [item for item in rendered if item.kind == "Ironic"]
    certificates = {item.namespace: item.body["spec"] for item in rendered if item.kind == "Certificate"}
    issuers = {(item.namespace, item.name) for item in rendered if item.kind == "Issuer"}

    assert ironics
    for one in ironics:
        certificate = certificates[one.namespace]
        assert certificate["secretName"] == one.body["spec"]["tls"]["certificateName"]
        assert f"{one.name}.{one.namespace}.svc" in certificate["dnsNames"]
        assert (one.namespace, certificate["issuerRef"]["name"]) in issuers


def test_disks_are_erased_after_their_metadata_if_the_region_requires_it(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    metal = region.spec.bare_metal.model_copy(update={"cleaning": Cleaning.ERASE})
    erasing = objects_of(replace(region, spec=region.spec.model_copy(update={"bare_metal": metal})))
    [spec] = [item.body["spec"] for item in erasing if item.kind == "Ironic"]
    [silent] = [item.body["spec"] for item in objects_of(region) if item.kind == "Ironic"]

    assert spec.pop("extraConfig") == [{"group": "deploy", "name": "erase_devices_priority", "value": "5"}]
    assert spec == silent


def test_ironic_has_a_ramdisk_of_each_architecture_and_downloads_none(alone: tuple[Manifest, ...]) -> None:
    [ironic] = [item.body["spec"] for item in alone if item.kind == "Ironic"]
    [operator] = [item for item in alone if item.kind == "Kustomization" and item.name == "ironic-standalone-operator"]
    images = ironic["overrides"]["agentImages"]

    assert ironic["version"] == "35.0"
    assert "@sha256:" in ironic["images"]["ironic"]
    assert ironic["deployRamdisk"] == {"disableDownloader": True}
    assert [image["architecture"] for image in images] == ["x86_64", "aarch64"]
    assert all(image["kernel"].startswith("https://") and image["initramfs"].startswith("https://") for image in images)
    assert "--feature-gates=Overrides=true" in operator.body["spec"]["patches"][-1]["patch"]


def test_without_ironic_in_the_version_vector_its_operator_decides(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    [ironic] = [item for item in objects_of(replace(region, ironic=None)) if item.kind == "Ironic"]

    assert ironic.body["spec"].keys() == {"networking", "tls"}
