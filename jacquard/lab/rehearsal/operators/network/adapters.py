"""Simulated network operator of NVIDIA: whole ports, shared ports and virtual functions of a node's adapters.

A NicNodePolicy configures the device plugins of ports. The SR-IOV operator offers virtual functions; its configuration
and policies must be in the operator's namespace. No function is created: a simulated host has as many functions as
requested, like with a golden image. A port with functions is not offered as a whole port, as in
k8snetworkplumbingwg/sriov-network-device-plugin:pkg/netdevice/netDeviceProvider.go.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from jacquard.lab.rehearsal.operators.hosts.gpus import is_of_gpus
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

_POLICY = ("mellanox.com/v1alpha1", "NicNodePolicy")
_SRIOV = "sriovnetwork.openshift.io/v1"
_FUNCTIONS = (_SRIOV, "SriovNetworkNodePolicy")
_CONFIGURATION = "default"
"""Name of the configuration; the SR-IOV operator accepts no other."""
_PREFIX = "nvidia.com"
"""Prefix of the resources of functions, from the chart of the network operator."""
_PORTS = 8
"""Number of InfiniBand ports of each simulated host, all on adapters of one model."""
_ADAPTER = {"vendor": "15b3", "deviceID": "1021"}
"""Identity of the adapter, a ConnectX-7, for the selectors of policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device that a device plugin assigns to a pod."""

    port: str = ""
    """Interface of the device's port, if a policy contains an interface."""
    mtu_bytes: int | None = None
    """MTU that the SR-IOV operator sets on functions of the port; None if unset."""


def device(view: View, node: Object, resource: str) -> Device:
    """Return a device of ``resource`` by the policies that select ``node``."""
    labels = node["metadata"].get("labels") or {}
    for policy in view.all(*_FUNCTIONS):
        spec = policy["spec"]
        if resource == f"{_PREFIX}/{spec['resourceName']}" and spec["nodeSelector"].items() <= labels.items():
            return Device(port=next(iter(spec["nicSelector"].get("pfNames", ())), ""), mtu_bytes=spec.get("mtu"))
    return Device()


def offer(view: View, node: Object, _pod: Object, release: Object, _found: object = None) -> None:
    """Set the resources of ``node`` by the policies that select it."""
    labels = node["metadata"].get("labels") or {}
    functions = _functions(view, labels, release["spec"]["targetNamespace"])
    specs = [body["spec"] for body in view.all(*_POLICY) if body["spec"]["nodeSelector"].items() <= labels.items()]
    ports = dict(resource for spec in specs for resource in _ports(spec, with_functions=bool(functions)))
    offered = dig(node, "status", "allocatable") or {}
    # A kubelet keeps removed resources with count 0.
    gone = [name for name in offered if name.startswith(f"{_PREFIX}/") and not is_of_gpus(name)]
    wanted = {**dict.fromkeys(gone, "0"), **ports, **functions}
    if any(offered.get(name) != count for name, count in wanted.items()):
        view.status(node, {"capacity": wanted, "allocatable": wanted})


def _ports(spec: Object, *, with_functions: bool) -> Iterator[tuple[str, str]]:
    """Yield the port resources of a policy with their count; whole ports only if the ports have no functions."""
    for resource in _configured(spec, "sriovDevicePlugin", "resourceList"):
        if not with_functions and _selects_adapter(resource, "devices"):
            yield _name(resource), str(_PORTS)
    for resource in _configured(spec, "rdmaSharedDevicePlugin", "configList"):
        if _selects_adapter(resource, "deviceIDs"):
            yield _name(resource), str(resource["rdmaHcaMax"])


def _functions(view: View, labels: dict[str, str], namespace: str) -> dict[str, str]:
    """Return the resources of the SR-IOV operator: the functions of all ports of the selected adapters."""
    settings = view.find(_SRIOV, "SriovOperatorConfig", _CONFIGURATION, namespace)
    selector = dig(settings, "spec", "configDaemonNodeSelector") or {}
    if settings is None or not selector.items() <= labels.items():
        return {}
    counts: dict[str, int] = {}
    for policy in view.all(*_FUNCTIONS):
        spec = policy["spec"]
        applies = policy["metadata"]["namespace"] == namespace and spec["nodeSelector"].items() <= labels.items()
        adapter = {key: value for key, value in spec["nicSelector"].items() if key != "pfNames"}
        if applies and adapter.items() <= _ADAPTER.items():
            name, ports = f"{_PREFIX}/{spec['resourceName']}", len(spec["nicSelector"].get("pfNames", ())) or _PORTS
            counts[name] = counts.get(name, 0) + ports * spec["numVfs"]
    return {name: str(count) for name, count in counts.items()}


def _configured(spec: Object, section: str, key: str) -> list[Object]:
    resources: list[Object] = json.loads(dig(spec, section, "config") or "{}").get(key, [])
    return resources


def _selects_adapter(resource: Object, key: str) -> bool:
    """Return whether a resource selects the hosts' adapter; ``key`` is the plugin's key for device IDs."""
    selectors = resource.get("selectors") or {}
    adapter = {"vendors": _ADAPTER["vendor"], key: _ADAPTER["deviceID"]}
    return all(value in (selectors.get(name) or [value]) for name, value in adapter.items())


def _name(resource: Object) -> str:
    return f"{resource['resourcePrefix']}/{resource['resourceName']}"
