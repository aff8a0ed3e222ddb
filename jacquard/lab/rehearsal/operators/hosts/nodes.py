"""Simulated booted hosts: each joins its cluster as a Node, by kubeadm or as a k0s worker."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlparse

from jacquard.lab.rehearsal.operators.hosts import ironcore, node_data
from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.lab.rehearsal.operators.hosts.claims import API, CLUSTER_LABEL, MACHINE
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owner
from jacquard.providers.kube.objects import dig

KUBEADM = ("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig")
K0S_WORKER = ("bootstrap.cluster.x-k8s.io/v1beta2", "K0sWorkerConfig")
_UUID = "metal3.io/uuid"
_METADATA = re.compile(r"\{\{ *ds\.meta_data\.(\w+) *\}\}")
"""Placeholder that cloud-init replaces with a value of the node's metadata."""
_METAL_HOSTNAME = "$${METAL_HOSTNAME}"
"""Placeholder that IronCore's provider replaces with the machine's name in the user data of a node."""
MANAGEMENT_NODES = ("management-0", "management-1", "management-2")
_ROLE = "node-role.kubernetes.io/control-plane"
"""Label in the list of prerequisites of a region with DPUs."""
_MANAGEMENT_RESOURCES = {"cpu": "128", "memory": "1Ti", "pods": "250", "ephemeral-storage": "7Ti"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "x86": "amd64", "ARM": "arm64"}
"""Architectures of nodes by those that Ironic's ramdisk (the first two) and Redfish (the others) report."""
_UNREPORTED = "amd64"
_NETWORKED = {"type": "NetworkUnavailable", "status": "False", "reason": "Given", "message": "the network is given"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Booted:
    """An infrastructure machine whose hardware runs an image."""

    machine: Object
    name: str
    """Name of the node in its metadata."""
    host: str
    uid: str
    image: str
    cores: int
    memory: str
    architecture: str
    """Architecture of the node, such as ``arm64``."""
    provider_id: str
    """Provider ID that the infrastructure provider sets on the Node; empty: none."""
    labels: dict[str, str] = field(default_factory=dict)
    """Labels by which the infrastructure provider finds the Node (CAPM3:baremetal/metal3machine_manager.go)."""
    metadata: dict[str, str] = field(default_factory=dict)
    """Addresses in the metadata of the node, by key."""
    is_on: bool = True
    """Whether the power of the hardware is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """Identity and settings with which a node registers."""

    name: str
    labels: dict[str, str]
    taints: list[dict[str, Any]]
    kubelet: str
    provider_id: str
    address: str | None = None
    """Address in the kubelet's ``node-ip``, empty if the metadata lack it; None without ``node-ip``."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Host of a node, and the bootstrap config with which it joined."""

    host: str
    config: Object
    is_on: bool = True
    """Whether the power of the host is on."""


def reconcile(view: View, hosted: Callable[[str], View | None]) -> None:
    """Register a Node for each booted host whose cluster responds.

    Args:
        view: The management cluster.
        hosted: Returns the API server of the Secret ``<cluster>-kubeconfig``.
    """
    for booted in (*_hosts(view), *_servers(view)):
        cluster = hosted((booted.machine["metadata"].get("labels") or {}).get(CLUSTER_LABEL, ""))
        if cluster is None:
            continue
        node = _node(view, booted)
        if node is None or not booted.labels.items() <= node["metadata"]["labels"].items():
            continue
        known = cluster.find("v1", "Node", node["metadata"]["name"])
        if known is None and booted.is_on:
            cluster.create(node)
        elif known is None:
            continue
        elif dig(known, "spec", "providerID") != node["spec"]["providerID"]:
            # The host now belongs to another machine, but the old Node still exists.
            cluster.delete(known)


def origins(view: View) -> dict[tuple[str, str], Origin]:
    """Return the origins of the nodes of all booted hosts, by cluster and name of the Node."""
    found = {}
    for booted in (*_hosts(view), *_servers(view)):
        cluster = (booted.machine["metadata"].get("labels") or {}).get(CLUSTER_LABEL, "")
        joining, config = _joining(view, booted)
        found[cluster, joining.name] = Origin(host=booted.host, config=config, is_on=booted.is_on)
    return found


def _hosts(view: View) -> Iterator[Booted]:
    for host in view.all(*HOST):
        if dig(host, "status", "provisioning", "state") != "provisioned" or deleting(host):
            continue
        consumer = dig(host, "spec", "consumerRef") or {}
        machine = view.find(API, "Metal3Machine", consumer.get("name"), consumer.get("namespace"))
        if machine is None or deleting(machine) or not dig(machine, "spec", "providerID"):
            continue
        uid = host["metadata"]["uid"]
        yield Booted(
            machine=machine,
            name=_name(view, host, machine),
            host=host["metadata"]["name"],
            uid=uid,
            image=PurePosixPath(urlparse(dig(host, "spec", "image", "url") or "").path).stem,
            cores=dig(host, "status", "hardware", "cpu", "count") or 1,
            memory=f"{dig(host, 'status', 'hardware', 'ramMebibytes') or 1024}Mi",
            architecture=_ARCHITECTURES.get(dig(host, "status", "hardware", "cpu", "arch"), _UNREPORTED),
            provider_id=machine["spec"]["providerID"],
            labels={_UUID: uid},
            metadata=node_data.addresses(view, machine, host),
            is_on=dig(host, "status", "poweredOn") is not False,
        )


def _servers(view: View) -> Iterator[Booted]:
    for server in view.all(ironcore.API, "Server"):
        status, boot = server.get("status") or {}, server["spec"].get("bootConfigurationRef") or {}
        on = (status.get("state"), status.get("powerState")) == (ironcore.RESERVED, ironcore.ON)
        configuration = view.find(ironcore.API, "ServerBootConfiguration", boot.get("name"), boot.get("namespace"))
        # Claim, boot configuration and machine have the same name.
        machine = view.find(ironcore.PROVIDER, "IroncoreMetalMachine", boot.get("name"), boot.get("namespace"))
        if not on or machine is None or deleting(machine) or dig(configuration, "status", "state") != "Ready":
            continue
        repository, _, _ = str(dig(configuration, "spec", "image")).partition("@")
        processors = status.get("processors") or [{}]
        yield Booted(
            machine=machine,
            name=machine["metadata"]["name"],
            host=dig(server, "spec", "bmcRef", "name") or "",
            uid=server["spec"]["systemUUID"],
            image=PurePosixPath(repository).name,
            cores=sum(processor.get("totalThreads", 0) for processor in processors) or 1,
            memory=str(status.get("totalSystemMemory") or "1Gi"),
            architecture=_ARCHITECTURES.get(processors[0].get("architecture"), _UNREPORTED),
            provider_id="",
        )


def _node(view: View, booted: Booted) -> Object | None:
    """Return the Node to register; None if the kubelet cannot start because its ``node-ip`` is not an address."""
    joining, _ = _joining(view, booted)
    if joining.address == "":
        return None
    resources = {"cpu": str(booted.cores), "memory": booted.memory, "pods": "250", "ephemeral-storage": "1Ti"}
    node = registered(joining.name, joining.labels, resources, joining.kubelet, booted.uid, booted.architecture)
    node["spec"] = {"providerID": joining.provider_id, "taints": joining.taints}
    node["status"]["nodeInfo"]["osImage"] = booted.image
    if joining.address:
        node["status"]["addresses"].insert(0, {"type": "InternalIP", "address": joining.address})
    return node


def _joining(view: View, booted: Booted) -> tuple[Joining, Object]:
    """Return the registration of a node, and its bootstrap config."""
    namespace = booted.machine["metadata"].get("namespace")
    capi = view.find(*MACHINE, owner(booted.machine, "Machine"), namespace) or {}
    reference = dig(capi, "spec", "bootstrap", "configRef") or {}
    join, kind = (_k0s, K0S_WORKER) if reference.get("kind") == K0S_WORKER[1] else (_kubeadm, KUBEADM)
    config = view.find(*kind, reference.get("name"), namespace) or {}
    return join(booted, capi, config), config


def registered(
    name: str,
    labels: dict[str, str],
    resources: dict[str, str],
    kubelet: str,
    uid: str,
    architecture: str = _UNREPORTED,
) -> Object:
    """Return the Node that a kubelet registers; kwok simulates its heartbeats."""
    known = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": architecture}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**known, **labels},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "addresses": [{"type": "Hostname", "address": name}],
            "nodeInfo": {
                "architecture": architecture,
                "operatingSystem": "linux",
                "osImage": "",
                "kubeletVersion": kubelet,
                # No image was booted, so fields that describe the booted system are empty.
                "kubeProxyVersion": "",
                "containerRuntimeVersion": "",
                "kernelVersion": "",
                "machineID": uid,
                "systemUUID": uid,
                "bootID": uid,
            },
        },
    }


def _kubeadm(booted: Booted, capi: Object, config: Object) -> Joining:
    registration = dig(config, "spec", "joinConfiguration", "nodeRegistration") or {}
    arguments = {entry["name"]: entry.get("value", "") for entry in registration.get("kubeletExtraArgs") or ()}
    argument = arguments.get("provider-id", "").replace(_METAL_HOSTNAME, booted.name)
    return Joining(
        name=booted.name,
        labels=_pairs([arguments.get("node-labels", "")], booted),
        taints=registration.get("taints") or [],
        kubelet=dig(capi, "spec", "version") or "",
        provider_id=booted.provider_id or argument,
        address=_filled(arguments.get("node-ip"), booted.metadata),
    )


def _filled(value: str | None, metadata: dict[str, str]) -> str | None:
    """Replace the placeholders of cloud-init in ``value``; missing metadata become empty."""
    return None if value is None else _METADATA.sub(lambda key: metadata.get(key[1], ""), value)


def _k0s(booted: Booted, capi: Object, config: Object) -> Joining:
    """Return the registration of a k0smotron worker, with the name and the provider ID of its Machine."""
    arguments = [argument.partition("=") for argument in dig(config, "spec", "args") or ()]

    def values(flag: str) -> list[str]:
        return [value for name, _, value in arguments if name == flag]

    name = capi["metadata"]["name"]
    return Joining(
        name=name,
        labels={"k0smotron.io/machine-name": name, **_pairs(values("--labels"), booted)},
        taints=[_taint(taint) for flag in values("--taints") for taint in flag.split(",")],
        kubelet=f"{dig(capi, 'spec', 'version') or ''}+k0s",
        provider_id=dig(booted.machine, "spec", "providerID") or "",
    )


def _name(view: View, host: Object, machine: Object) -> str:
    """Return ``name`` from the metadata of the machine's data template, or the name of the host."""
    template = dig(machine, "spec", "dataTemplate", "name")
    body = view.find(API, "Metal3DataTemplate", template, machine["metadata"].get("namespace")) or {}
    names = {
        "baremetalhost": host["metadata"]["name"],
        "metal3machine": machine["metadata"]["name"],
        "machine": owner(machine, "Machine"),
    }
    for entry in dig(body, "spec", "metaData", "objectNames") or ():
        if entry["key"] == "name":
            return str(names[entry["object"]])
    return str(names["baremetalhost"])


def _pairs(flags: Iterable[str], booted: Booted) -> dict[str, str]:
    """Parse labels of flags of the form ``a=b,c=d``; their only template is the UUID of the host, from its metadata."""
    labels = [label.partition("=") for flag in flags for label in flag.split(",") if label]
    return {key: booted.uid if "ds.meta_data.uuid" in value else value for key, _, value in labels}


def _taint(text: str) -> dict[str, str]:
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    return {"key": key, **({"value": value} if value else {}), "effect": effect}


def create_management_nodes(view: View) -> None:
    """Create the missing nodes of the management cluster, a prerequisite of a region, each in a separate zone."""
    for name in MANAGEMENT_NODES:
        if view.find("v1", "Node", name) is None:
            labels = {"topology.kubernetes.io/zone": name, _ROLE: ""}
            node = registered(name, labels, _MANAGEMENT_RESOURCES, view.kubernetes(), name)
            node["status"]["conditions"] = [_NETWORKED]
            view.create(node)
