"""Errors of CNI plug-ins, and the order of their checks."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

import pytest

from jacquard.lab.rehearsal.operators.network.adapters import Device
from jacquard.lab.rehearsal.operators.network.address_pools import Addresses
from jacquard.lab.rehearsal.operators.network.network_plugins import CONFIGURED, Call, Refused, add

INFINIBAND = {"type": "ib-sriov", "ibKubernetesEnabled": True, "rdmaIsolation": True}
SHARED = (
    "RDMA subsystem namespace awareness mode is set to shared, expecting it to be set to exclusive, "
    "invalid system configurations"
)
WORD = dict([CONFIGURED])


def call(objects: Any, **more: Any) -> Call:
    given = {"device": None, "arguments": {}, "guid": None, "exclusive": False} | more
    return Call(pod_uid="uid", node="n1", interface="net1", addresses=Addresses(objects()), **given)


@pytest.mark.parametrize(
    ("config", "given", "says"),
    [
        (INFINIBAND, {}, 'InfiniBand status "mellanox.infiniband.app" is not "configured"'),
        (INFINIBAND, {"arguments": WORD}, SHARED),
        (INFINIBAND, {"arguments": WORD, "exclusive": True}, "deviceID is required"),
        (
            INFINIBAND,
            {"arguments": WORD, "exclusive": True, "device": Device()},
            "Unexpected error. GUID must be provided by ib-kubernetes",
        ),
        ({"type": "rdma"}, {"exclusive": True}, "RDMA-CNI is expected to be called as part of a plugin chain"),
        ({"plugins": [{"type": "macvlan"}, {"type": "rdma"}]}, {}, f'plugin type="rdma" failed (add): {SHARED}'),
        ({"plugins": [{"type": "sriov"}, {"type": "rdma"}]}, {}, "VF pci addr is required"),
        (
            {"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rail", "poolType": "cidrpool"}},
            {"device": Device(port="rail0")},
            'failed to set up IPAM plugin type "nv-ipam" from the device "rail0": failed to find plugin "nv-ipam"',
        ),
    ],
)
def test_a_plugin_refuses_in_its_words(objects: Any, config: dict[str, Any], given: dict[str, Any], says: str) -> None:
    with pytest.raises(Refused) as refused:
        add(config, call(objects, **given))

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("config", "given", "answer"),
    [
        (INFINIBAND, {"arguments": WORD, "exclusive": True, "device": Device(), "guid": "02:00"}, {}),
        ({"type": "ib-sriov"}, {"device": Device()}, {}),
        ({"type": "somebody's"}, {}, {}),
        (
            {"plugins": [{"type": "sriov"}, {"type": "rdma"}]},
            {"exclusive": True, "device": Device(mtu_bytes=9000)},
            {"mac": ANY, "mtu": 9000},
        ),
    ],
)
def test_a_plugin_that_lacks_nothing_answers(
    objects: Any, config: dict[str, Any], given: dict[str, Any], answer: dict[str, Any]
) -> None:
    assert add(config, call(objects, **given)) == answer
