"""What the plugins of networks ask of a pod and its node, and what they answer Multus.

Each refuses in its own words: k8snetworkplumbingwg/sriov-cni:pkg/cnicommands/cni.go, k8snetworkplumbingwg/rdma-cni:
cmd/rdma/main.go, k8snetworkplumbingwg/ib-sriov-cni:cmd/ib-sriov-cni/main.go, Mellanox/nvidia-k8s-ipam:pkg/cni. Other
plugins are taken to give an interface. No interface is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.lab.rehearsal.operators.network.adapters import Device
from jacquard.lab.rehearsal.operators.network.address_pools import Addresses, NoAddress

INFINIBAND = "ib-sriov"
CONFIGURED = ("mellanox.infiniband.app", "configured")
"""What ib-kubernetes says of a network of a pod once UFM has its GUID."""
_EXCLUSIVE, _SHARED = "exclusive", "shared"

Result = dict[str, Any]
"""What a plugin tells of its interface, by the words of Multus' status."""


class Refused(Exception):  # noqa: N818 - what the plugin says last
    """A plugin gives no interface, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What Multus calls the plugins of one network of a pod with."""

    pod_uid: str
    node: str
    interface: str
    device: Device | None
    """Device that the pod was given for the network, or None where none is left."""
    arguments: Mapping[str, Any]
    """What the pod's annotation tells the plugin."""
    guid: str | None
    exclusive: bool
    """Whether the node's kernel keeps RDMA devices to one network namespace each."""
    addresses: Addresses


def add(config: Mapping[str, Any], call: Call) -> Result:
    """Return what the plugins of a configuration answer, one after the other.

    Raises:
        Refused: One gives nothing.
    """
    if "plugins" not in config:
        return _one(config, call, None)
    answer: Result | None = None
    for plugin in config["plugins"]:
        try:
            answer = _one(plugin, call, answer)
        except Refused as reason:
            msg = f'plugin type="{plugin.get("type")}" failed (add): {reason}'
            raise Refused(msg) from None
    return answer or {}


def _one(plugin: Mapping[str, Any], call: Call, before: Result | None) -> Result:
    known = _PLUGINS.get(plugin.get("type", ""))
    return known(plugin, call, before) if known else before or {}


def _sriov(plugin: Mapping[str, Any], call: Call, _: Result | None) -> Result:
    if call.device is None:
        msg = "SRIOV-CNI failed to load netconf: LoadConf(): VF pci addr is required"
        raise Refused(msg)
    found: Result = {"mac": _mac(call)}
    if call.device.mtu_bytes:
        found["mtu"] = call.device.mtu_bytes
    ipam = plugin.get("ipam") or {}
    if ipam.get("type") == "nv-ipam":
        pool = ipam.get("poolName") or plugin.get("name", "")
        try:
            found["ips"] = [call.addresses.give(call.node, pool, ipam.get("poolType", "ippool").lower())]
        except NoAddress as reason:
            msg = f'failed to set up IPAM plugin type "nv-ipam" from the device "{call.device.port}": {reason}'
            raise Refused(msg) from None
    return found


def _rdma(_: Mapping[str, Any], call: Call, before: Result | None) -> Result:
    if before is None:
        msg = "RDMA-CNI is expected to be called as part of a plugin chain"
        raise Refused(msg)
    _ask_for_exclusive(call)
    return before


def _ib_sriov(plugin: Mapping[str, Any], call: Call, _: Result | None) -> Result:
    by_daemon, (key, value) = plugin.get("ibKubernetesEnabled"), CONFIGURED
    if by_daemon and call.arguments.get(key) != value:
        state = f'InfiniBand status "{key}" is not "{value}" please check mellanox ib-kubernetes'
        msg = f"infiniBand SRIOV-CNI failed, {state}"
        raise Refused(msg)
    if plugin.get("rdmaIsolation"):
        _ask_for_exclusive(call)
    if call.device is None:
        msg = "deviceID is required"
        raise Refused(msg)
    if by_daemon and not call.guid:
        msg = "infiniband SRIOV-CNI failed, Unexpected error. GUID must be provided by ib-kubernetes"
        raise Refused(msg)
    return {}


def _ask_for_exclusive(call: Call) -> None:
    if not call.exclusive:
        msg = (
            f"RDMA subsystem namespace awareness mode is set to {_SHARED}, "
            f"expecting it to be set to {_EXCLUSIVE}, invalid system configurations"
        )
        raise Refused(msg)


def _mac(call: Call) -> str:
    """Return an address that a function could have been given by its adapter."""
    return bytes([2, *hashlib.sha256(f"{call.pod_uid} {call.interface}".encode()).digest()[:5]]).hex(":")


_PLUGINS: dict[str, Callable[[Mapping[str, Any], Call, Result | None], Result]] = {
    INFINIBAND: _ib_sriov,
    "sriov": _sriov,
    "rdma": _rdma,
}
