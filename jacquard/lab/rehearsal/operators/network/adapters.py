"""What the parts of NVIDIA's network operator offer of the adapters of a node: whole and shared ports, and functions.

Device plugins of ports do as a NicNodePolicy says. Virtual functions are handed out by the SR-IOV operator, which wants
its configuration and policies in its own namespace. No adapter is cut: a simulated host has as many functions as it is
asked for, as golden images make them. A port with functions is handed out whole by nobody, as in
k8snetworkplumbingwg/sriov-network-device-plugin:pkg/netdevice/netDeviceProvider.go.
"""

from __future__ import annotations

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
"""The only name that the SR-IOV operator looks for."""
_PREFIX = "nvidia.com"
"""How resources of functions begin, as the chart of the network operator has it."""
_PORTS = 8
"""InfiniBand ports of each simulated host, all of one adapter."""
_ADAPTER = {"vendor": "15b3", "deviceID": "1021"}
"""Which adapter that is, a ConnectX-7, as a policy chooses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What a device plugin gives a pod of an adapter."""

    port: str = ""
    """Interface of the port that it is of, where a policy names one."""
    mtu_bytes: int | None = None
    """MTU that the SR-IOV operator gives functions of the port, or None where it leaves theirs."""


def device(view: View, node: Object, resource: str) -> Device:
    """Return a device of ``resource`` as the policies that choose ``node`` have it."""
    labels = node["metadata"].get("labels") or {}
    for policy in view.all(*_FUNCTIONS):
        spec = policy["spec"]
        if resource == f"{_PREFIX}/{spec['resourceName']}" and spec["nodeSelector"].items() <= labels.items():
            return Device(port=next(iter(spec["nicSelector"].get("pfNames", ())), ""), mtu_bytes=spec.get("mtu"))
    return Device()


def offer(view: View, node: Object, _pod: Object, release: Object) -> None:
    """Offer what ``node`` has by the policies that choose it."""
    labels = node["metadata"].get("labels") or {}
    functions = _functions(view, labels, release["spec"]["targetNamespace"])
    chosen = [body["spec"] for body in view.all(*_POLICY) if body["spec"]["nodeSelector"].items() <= labels.items()]
    ports = dict(resource for spec in chosen for resource in _ports(spec, cut=bool(functions)))
    there = dig(node, "status", "allocatable") or {}
    # A kubelet goes on telling of what is offered no more.
    gone = [name for name in there if name.startswith(f"{_PREFIX}/") and not is_of_gpus(name)]
    wanted = {**dict.fromkeys(gone, "0"), **ports, **functions}
    if any(there.get(name) != count for name, count in wanted.items()):
        view.status(node, {"capacity": wanted, "allocatable": wanted})


def _ports(spec: Object, *, cut: bool) -> Iterator[tuple[str, str]]:
    """Yield what the plugins of a policy offer: each port once unless it is ``cut``, or all of them to so many pods."""
    for one in _configured(spec, "sriovDevicePlugin", "resourceList"):
        if not cut and _has(one, "devices"):
            yield _name(one), str(_PORTS)
    for one in _configured(spec, "rdmaSharedDevicePlugin", "configList"):
        if _has(one, "deviceIDs"):
            yield _name(one), str(one["rdmaHcaMax"])


def _functions(view: View, labels: dict[str, str], namespace: str) -> dict[str, str]:
    """Return what the SR-IOV operator offers: the functions of all ports of the adapters that policies choose."""
    settings = view.find(_SRIOV, "SriovOperatorConfig", _CONFIGURATION, namespace)
    chosen = dig(settings, "spec", "configDaemonNodeSelector") or {}
    if settings is None or not chosen.items() <= labels.items():
        return {}
    found: dict[str, int] = {}
    for policy in view.all(*_FUNCTIONS):
        spec = policy["spec"]
        here = policy["metadata"]["namespace"] == namespace and spec["nodeSelector"].items() <= labels.items()
        adapter = {key: value for key, value in spec["nicSelector"].items() if key != "pfNames"}
        if here and adapter.items() <= _ADAPTER.items():
            name, ports = f"{_PREFIX}/{spec['resourceName']}", len(spec["nicSelector"].get("pfNames", ())) or _PORTS
            found[name] = found.get(name, 0) + ports * spec["numVfs"]
    return {name: str(count) for name, count in found.items()}


def _configured(spec: Object, section: str, key: str) -> list[Object]:
    found: list[Object] = json.loads(dig(spec, section, "config") or "{}").get(key, [])
    return found


def _has(resource: Object, key: str) -> bool:
    """Tell whether the hosts' adapter is one that a resource selects, by the key that its plugin has for devices."""
    selectors = resource.get("selectors") or {}
    fits = {"vendors": _ADAPTER["vendor"], key: _ADAPTER["deviceID"]}
    return all(value in (selectors.get(name) or [value]) for name, value in fits.items())


def _name(resource: Object) -> str:
    return f"{resource['resourcePrefix']}/{resource['resourceName']}"
