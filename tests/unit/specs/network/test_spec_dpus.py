"""The DPU clusters of a region."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest

from components.specs.network.dpus import ONLY, DpuControlSpec
from tests.support.checks.spec_errors import error_texts

ONE = {"name": "one", "vip": "10.0.0.21", "virtual_router_id": 52, "loopbacks": "10.4.1.0/24"}
CONTROL: dict[str, Any] = {"image": "bfb-3.2.0", "vip_interface": "br-mgmt", "management_api": "10.0.0.10"}
SINGLE = {"vip": "10.0.0.20", "virtual_router_id": 51}
LOOPBACKS = IPv4Network("10.4.0.0/22")


def test_the_only_dpu_cluster_has_all_loopbacks() -> None:
    [only] = DpuControlSpec.model_validate({**CONTROL, **SINGLE}).every(LOOPBACKS)

    assert (only.name, str(only.vip), only.virtual_router_id, only.loopbacks) == (ONLY, "10.0.0.20", 51, LOOPBACKS)


def test_listed_dpu_clusters_are_as_they_are_listed() -> None:
    control = DpuControlSpec.model_validate({**CONTROL, "clusters": [ONE]})

    assert control.every(LOOPBACKS) == control.clusters
    assert [(item.name, item.loopbacks) for item in control.clusters] == [("one", IPv4Network("10.4.1.0/24"))]


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (
            {},
            {
                "vip": "is required when no clusters are listed; write vip: 10.0.0.20",
                "virtual_router_id": "is required when no clusters are listed; write virtual_router_id: 1",
            },
        ),
        (
            {**SINGLE, "clusters": [ONE]},
            {
                "vip": "has no effect when clusters are listed, which have their own (got '10.0.0.20'); remove it",
                "virtual_router_id": "has no effect when clusters are listed, which have their own (got 51); remove it",
            },
        ),
        (
            {"clusters": [{**ONE, "from_rack": "a3"}]},
            {"clusters[0].from_rack": "needs exactly one hall (got 'a3'); list only the hall of this rack"},
        ),
        (
            {"clusters": [{**ONE, "name": "first"}]},
            {
                "clusters[0].name": "must be a name of at most 4 lower-case letters and digits that starts with a"
                " letter (got 'first')"
            },
        ),
        (
            {**SINGLE, "mtu_bytes": 9200},
            {
                "mtu_bytes": "leaves no room for the overlay: mtu_bytes 9200 plus 50 bytes exceeds"
                " uplink_mtu_bytes 9216 (got 9200); write mtu_bytes: 9166"
            },
        ),
        (
            {**SINGLE, "uplink_mtu_bytes": 9050, "ovn_central": "10.0.0.30"},
            {
                "uplink_mtu_bytes": "leaves no room for the overlay: mtu_bytes 9000 plus 58 bytes exceeds"
                " uplink_mtu_bytes 9050 (got 9050); write mtu_bytes: 8992"
            },
        ),
        (
            {**SINGLE, "mtu_bytes": 1500, "uplink_mtu_bytes": 1300},
            {
                "uplink_mtu_bytes": "leaves no room for the overlay: mtu_bytes 1500 plus 50 bytes exceeds"
                " uplink_mtu_bytes 1300 (got 1300); write uplink_mtu_bytes: 1550"
            },
        ),
    ],
    ids=["neither", "both", "a rack of every hall", "a long name", "no room by default", "none for OVN", "none at all"],
)
def test_incompatible_values_are_reported(control: dict[str, Any], expected: dict[str, str]) -> None:
    assert error_texts(DpuControlSpec, {**CONTROL, **control}) == expected
