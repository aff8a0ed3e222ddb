"""Simulated CNI plugins: their requirements on a pod and its node, and their results for Multus.

Errors have the text of upstream: k8snetworkplumbingwg/sriov-cni:pkg/cnicommands/cni.go, k8snetworkplumbingwg/rdma-cni:
cmd/rdma/main.go, k8snetworkplumbingwg/ib-sriov-cni:cmd/ib-sriov-cni/main.go, Mellanox/nvidia-k8s-ipam:pkg/cni,
containernetworking/plugins:plugins/meta/sbr/main.go. Other plugins always succeed. No interface is created.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.lab.rehearsal.operators.network.adapters import Device
from jacquard.lab.rehearsal.operators.network.address_pools import Addresses, NoAddress

INFINIBAND = "ib-sriov"
CONFIGURED = ("mellanox.infiniband.app", "configured")
"""Argument that ib-kubernetes sets on a network of a pod after UFM registered its GUID."""
_EXCLUSIVE, _SHARED = "exclusive", "shared"

Result = dict[str, Any]
"""Result of a plugin, with the keys of Multus' status."""


class Refused(Exception):  # noqa: N818 - the last message of the plugin
    """A plugin creates no interface; the message contains the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Parameters with which Multus calls the plugins of one network of a pod."""

    pod_uid: str
    node: str
    interface: str
    device: Device | None
    """Device of the pod for the network; None if no device is left."""
    arguments: Mapping[str, Any]
    """Arguments of the plugin in the pod's annotation."""
    guid: str | None
    exclusive: bool
    """Whether the node's kernel restricts each RDMA device to one network namespace."""
    addresses: Addresses


def add(config: Mapping[str, Any], call: Call) -> Result:
    """Call the plugins of a configuration in order, and return the result of the last plugin.

    Raises:
        Refused: A plugin fails.
    """
    if "plugins" not in config:
        return _call_plugin(config, call, None)
    answer: Result | None = None
    for plugin in config["plugins"]:
        try:
            answer = _call_plugin(plugin, call, answer)
        except Refused as reason:
            msg = f'plugin type="{plugin.get("type")}" failed (add): {reason}'
            raise Refused(msg) from None
    return answer or {}


def _call_plugin(plugin: Mapping[str, Any], call: Call, before: Result | None) -> Result:
    simulated = _PLUGINS.get(plugin.get("type", ""))
    return simulated(plugin, call, before) if simulated else before or {}


def _sriov(plugin: Mapping[str, Any], call: Call, _: Result | None) -> Result:
    if call.device is None:
        msg = "SRIOV-CNI failed to load netconf: LoadConf(): VF pci addr is required"
        raise Refused(msg)
    result: Result = {"mac": _mac(call)}
    if call.device.mtu_bytes:
        result["mtu"] = call.device.mtu_bytes
    ipam = plugin.get("ipam") or {}
    if ipam.get("type") == "nv-ipam":
        pool = ipam.get("poolName") or plugin.get("name", "")
        try:
            result["ips"] = [call.addresses.give(call.node, pool, ipam.get("poolType", "ippool").lower())]
        except NoAddress as reason:
            msg = f'failed to set up IPAM plugin type "nv-ipam" from the device "{call.device.port}": {reason}'
            raise Refused(msg) from None
    return result


def _rdma(_: Mapping[str, Any], call: Call, before: Result | None) -> Result:
    if before is None:
        msg = "RDMA-CNI is expected to be called as part of a plugin chain"
        raise Refused(msg)
    _require_exclusive(call)
    return before


def _sbr(_: Mapping[str, Any], call: Call, before: Result | None) -> Result:
    if before is None:
        msg = "This plugin must be called as chained plugin"
        raise Refused(msg)
    if not before.get("ips"):
        msg = f"No IP addresses supplied on interface: {call.interface}"
        raise Refused(msg)
    return before


def _ib_sriov(plugin: Mapping[str, Any], call: Call, _: Result | None) -> Result:
    by_daemon, (key, value) = plugin.get("ibKubernetesEnabled"), CONFIGURED
    if by_daemon and call.arguments.get(key) != value:
        state = f'InfiniBand status "{key}" is not "{value}" please check mellanox ib-kubernetes'
        msg = f"infiniBand SRIOV-CNI failed, {state}"
        raise Refused(msg)
    if plugin.get("rdmaIsolation"):
        _require_exclusive(call)
    if call.device is None:
        msg = "deviceID is required"
        raise Refused(msg)
    if by_daemon and not call.guid:
        msg = "infiniband SRIOV-CNI failed, Unexpected error. GUID must be provided by ib-kubernetes"
        raise Refused(msg)
    return {}


def _require_exclusive(call: Call) -> None:
    if not call.exclusive:
        msg = (
            f"RDMA subsystem namespace awareness mode is set to {_SHARED}, "
            f"expecting it to be set to {_EXCLUSIVE}, invalid system configurations"
        )
        raise Refused(msg)


def _mac(call: Call) -> str:
    """Return a MAC address that is valid for a virtual function."""
    return bytes([2, *hashlib.sha256(f"{call.pod_uid} {call.interface}".encode()).digest()[:5]]).hex(":")


_PLUGINS: dict[str, Callable[[Mapping[str, Any], Call, Result | None], Result]] = {
    INFINIBAND: _ib_sriov,
    "sriov": _sriov,
    "rdma": _rdma,
    "sbr": _sbr,
}
