"""Boot support of backends for images, and the prerequisites of a region."""

from __future__ import annotations

import pytest

from components.intents.boot import boot_objections
from components.render.backends import BARE_METAL
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.pools.nodes import JoinServiceSpec
from components.specs.region.catalog import BootMode
from tests.support.data.small_region import NODE_TYPE, RACK_TYPE, changed, small_region

SERVICE = JoinServiceSpec.model_validate(
    {"image": f"registry.cloud.example/join@sha256:{'a' * 64}", "address": "10.0.0.40"}
)
UNPROVEN = (
    "image gpu-2026.10.2 has boot: live-iso, which passes no join token to nodes, and is unproven unless region.yaml"
    " has nodes.join_service"
)


@pytest.mark.parametrize(
    ("backend", "boot", "service", "expected"),
    [
        (BareMetalBackend.METAL3, BootMode.DISK, None, []),
        (BareMetalBackend.METAL3, BootMode.LIVE_ISO, None, [UNPROVEN]),
        (BareMetalBackend.METAL3, BootMode.LIVE_ISO, SERVICE, []),
        (
            BareMetalBackend.METAL3,
            BootMode.NETBOOT,
            SERVICE,
            ["image gpu-2026.10.2 has boot: netboot, metal3 supports disk or live-iso"],
        ),
        (
            BareMetalBackend.IRONCORE_METAL,
            BootMode.DISK,
            None,
            ["image gpu-2026.10.2 has boot: disk, ironcore-metal supports netboot"],
        ),
        (BareMetalBackend.IRONCORE_METAL, BootMode.NETBOOT, None, []),
    ],
)
def test_the_image_defines_its_boot_method_and_the_region_its_support(
    backend: BareMetalBackend, boot: BootMode, service: JoinServiceSpec | None, expected: list[str]
) -> None:
    base = small_region()
    region = changed(
        base.region,
        bare_metal=changed(base.region.bare_metal, backend=backend),
        nodes=changed(base.region.nodes, join_service=service),
    )
    image = changed(base.images.images[0], boot=boot)

    assert boot_objections(changed(base, region=region), image, NODE_TYPE) == expected


def test_an_iso_is_for_hosts_whose_driver_attaches_media() -> None:
    base = small_region()
    region = changed(base.region, nodes=changed(base.region.nodes, join_service=SERVICE))
    host = changed(base.hosts[0], bmc="redfish+https://10.1.0.11/redfish/v1/Systems/1")
    mixed = changed(base, region=region, hosts=(host, *base.hosts[1:]))
    image = changed(base.images.images[0], boot=BootMode.LIVE_ISO)

    assert boot_objections(mixed, image, RACK_TYPE) == []
    [expected] = boot_objections(mixed, image, NODE_TYPE)
    assert expected == (
        f"image {image.version} has boot: live-iso, which requires virtual media, and 1 of 16 {NODE_TYPE} hosts have"
        f" a BMC driver without it, such as {host.host} ({host.bmc})"
    )


def test_every_boot_mode_has_a_backend() -> None:
    assert {boot for backend in BARE_METAL.values() for boot in backend.boots} == set(BootMode)
