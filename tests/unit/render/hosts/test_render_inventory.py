"""Rendered objects of hosts."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

import pytest

from components.render.hosts.inventory import InventoryInput
from components.render.manifest import Patch
from components.render.region.engine.rights import RIGHTS
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.firmware import FirmwareBaseline
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.pools.nodes import FirmwareUpdate
from components.specs.struct import replace
from jacquard.lab.rehearsal.operators.hosts.remediation import UNHEALTHY


def test_the_dpu_of_a_free_host_belongs_to_no_vpc(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = next(placed for placed in inventory.hosts if placed.owner is not None)

    def vpc(owner: Any) -> str | None:
        one = replace(inventory, hosts=(replace(placed, owner=owner),))
        [node] = [item for item in objects_of(one) if item.kind == "DPUNode"]
        label: str | None = node.body["metadata"]["labels"].get("jacquard.dev/vpc")
        return label

    assert vpc(placed.owner) == placed.owner.vpc
    assert vpc(None) is None


def test_a_dpu_node_names_its_device_within_dpf_limits(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = inventory.hosts[0]
    long = replace(placed, host=placed.host.model_copy(update={"host": "h" * 63}))

    _, device, node = objects_of(replace(inventory, hosts=(long,)))

    assert len(node.name) == 48
    assert len(device.name) <= 63
    assert node.body["spec"]["dpus"] == [{"name": device.name}]


def test_a_dpu_with_a_bmc_has_its_address(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = inventory.hosts[0]
    host = placed.host.model_copy(update={"dpu_bmc": IPv4Address("10.1.8.8")})

    def device(one: Any) -> Any:
        [found] = [item for item in objects_of(replace(inventory, hosts=(one,))) if item.kind == "DPUDevice"]
        return found.body["spec"]

    assert device(replace(placed, host=host)) == {**device(placed), "bmcIp": "10.1.8.8"}


def test_a_host_has_its_life_cycle_state_and_only_production_hosts_are_claimed(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = inventory.hosts[0]

    def metadata(state: str, why: str | None = None) -> Any:
        one = replace(inventory, hosts=(replace(placed, state=state, why=why),))
        [host] = [item for item in objects_of(one) if item.kind == "BareMetalHost"]
        return host.body["metadata"]

    assert metadata("production")["labels"]["jacquard.dev/state"] == "production"
    assert "annotations" not in metadata("production")
    assert metadata("rma")["labels"]["jacquard.dev/state"] == "rma"
    assert metadata("rma", "since 2026-10-01: fan")["annotations"] == {
        **UNHEALTHY,
        "jacquard.dev/out-of-service": "since 2026-10-01: fan",
    }
    assert metadata("rma")["labels"]["jacquard.dev/pool"] == placed.owner.pool


def test_a_host_has_the_root_device_hints_of_metal3(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)

    def hints(disk: RootDeviceSpec | None) -> Any:
        one = replace(inventory, hosts=(replace(inventory.hosts[0], root_device=disk),))
        [host] = [item for item in objects_of(one) if item.kind == "BareMetalHost"]
        return host.body["spec"].get("rootDeviceHints")

    assert hints(RootDeviceSpec(model="MZ1L2960", min_size="1Ti")) == {"model": "MZ1L2960", "minSizeGigabytes": 1024}
    assert hints(RootDeviceSpec(vendor="DELL", hctl="0:2:0:0", rotational=False)) == {
        "vendor": "DELL",
        "hctl": "0:2:0:0",
        "rotational": False,
    }
    slot = "/dev/disk/by-path/pci-0000:01:00.0-nvme-1"
    assert hints(RootDeviceSpec(device_name=slot)) == {"deviceName": slot}
    assert hints(None) is None


def test_only_the_bmc_of_a_host_that_is_excepted_is_believed_without_a_certificate(
    inputs_of: Any, objects_of: Any
) -> None:
    [inventory] = inputs_of(InventoryInput)

    def bmc(*, unverified: bool) -> Any:
        one = replace(inventory, hosts=(replace(inventory.hosts[0], unverified=unverified),))
        [host] = [item for item in objects_of(one) if item.kind == "BareMetalHost"]
        return host.body["spec"]["bmc"]

    assert bmc(unverified=True) == {**bmc(unverified=False), "disableCertificateVerification": True}
    assert "disableCertificateVerification" not in bmc(unverified=False)


PLURALS = {
    "BareMetalHost": "baremetalhosts",
    "HostFirmwareComponents": "hostfirmwarecomponents",
    "HostFirmwareSettings": "hostfirmwaresettings",
    "HostUpdatePolicy": "hostupdatepolicies",
}
BASELINE = FirmwareBaseline.model_validate(
    {
        "name": "h100-2026.11",
        "instance_types": ["h100-ib-8"],
        "bios": {"Turbo": "Enabled", "Watts": 500},
        "components": {
            "bmc": {"version": "24.10.1", "url": "https://firmware.example/bmc.bin"},
            "bios": {"version": "2.7.5", "url": "https://firmware.example/bios.bin"},
            "nic": {"version": "28.45.1020"},
        },
    }
)


@pytest.mark.parametrize(
    ("when", "firmware", "policies"),
    [
        (FirmwareUpdate.ON_PREPARING, BASELINE, []),
        (FirmwareUpdate.ON_REBOOT, None, []),
        (
            FirmwareUpdate.ON_REBOOT,
            BASELINE,
            [{"firmwareSettings": "onReboot", "firmwareUpdates": "onReboot"}],
        ),
    ],
)
def test_a_host_with_a_baseline_has_a_policy_for_firmware_updates(
    inputs_of: Any, objects_of: Any, when: FirmwareUpdate, firmware: FirmwareBaseline | None, policies: list[Any]
) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = replace(inventory.hosts[0], firmware=firmware)
    rendered = objects_of(replace(inventory, firmware_updates=when, hosts=(placed,)))
    [host] = [item for item in rendered if item.kind == "BareMetalHost"]
    found = [item for item in rendered if item.kind == "HostUpdatePolicy"]

    assert [item.body["spec"] for item in found] == policies
    assert {(item.namespace, item.name) for item in found} <= {(host.namespace, host.name)}
    assert host.body["metadata"]["labels"].get("jacquard.dev/firmware") == (firmware and firmware.name)


def test_the_operator_may_change_all_objects_of_a_host(inputs_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    hosts = (replace(inventory.hosts[0], firmware=BASELINE),)
    [rack] = replace(inventory, hosts=hosts, firmware_updates=FirmwareUpdate.ON_REBOOT).render()

    changed = (*rack.members.values(), *rack.patches.values())
    assert {item.kind for item in changed if item.api_version == "metal3.io/v1alpha1"} == PLURALS.keys()
    assert set(RIGHTS["inventory"].changes["metal3.io"]) == {*PLURALS.values()}


def test_hosts_of_one_namespace_and_baseline_share_their_settings_and_versions(inputs_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    first, second, third, *rest = (placed for placed in inventory.hosts if placed.host.rack == "a01")
    free, bare = replace(third, owner=None), BASELINE.model_copy(update={"name": "bare", "bios": {}, "components": {}})
    hosts = (replace(first, firmware=BASELINE), replace(second, firmware=BASELINE, owner=first.owner))

    [rack] = replace(
        inventory, hosts=(*hosts, replace(free, firmware=BASELINE), *(replace(one, firmware=bare) for one in rest))
    ).render()

    updates = [
        {"component": "bmc", "url": "https://firmware.example/bmc.bin"},
        {"component": "bios", "url": "https://firmware.example/bios.bin"},
    ]
    specs = {
        "HostFirmwareSettings": {"settings": {"Turbo": "Enabled", "Watts": 500}},
        "HostFirmwareComponents": {"updates": updates},
    }
    versions = [{"component": name, "currentVersion": BASELINE.components[name].version} for name in ("bmc", "bios")]
    unless = {
        "HostFirmwareSettings": {"status": {"settings": {"Turbo": "Enabled", "Watts": "500"}}},
        "HostFirmwareComponents": {"status": {"components": versions}},
    }
    places = {first.owner.cluster: (first.host.host, second.host.host), "inventory": (free.host.host,)}
    assert rack.patches == {
        f"{namespace}/h100-2026.11/{kind}": Patch(
            api_version="metal3.io/v1alpha1",
            kind=kind,
            namespace=namespace,
            names=names,
            fields={"spec": spec},
            unless=unless.get(kind),
        )
        for namespace, names in places.items()
        for kind, spec in specs.items()
    }
    assert [
        (item.key, item.body) for item in rack.patches["inventory/h100-2026.11/HostFirmwareSettings"].objects("here")
    ] == [
        (
            f"here/metal3.io/v1alpha1/HostFirmwareSettings/inventory/{free.host.host}",
            {
                "apiVersion": "metal3.io/v1alpha1",
                "kind": "HostFirmwareSettings",
                "metadata": {"name": free.host.host, "namespace": "inventory"},
                "spec": specs["HostFirmwareSettings"],
            },
        )
    ]


def test_metal_operator_gets_no_firmware_settings(inputs_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    hosts = tuple(replace(placed, firmware=BASELINE) for placed in inventory.hosts)

    racks = replace(inventory, backend=BareMetalBackend.IRONCORE_METAL, hosts=hosts).render()

    assert [rack.patches for rack in racks] == [{}] * len(racks)
