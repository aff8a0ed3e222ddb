"""What a booted host does: it joins its cluster as a Node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import urlparse

from rehearsal.operators.hosts import API, CLUSTER_LABEL, HOST, MACHINE
from rehearsal.operators.view import Object, View, deleting, dig, owner

KUBEADM = ("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig")
_UUID = "metal3.io/uuid"


def reconcile(view: View, hosted: Callable[[str], View | None]) -> None:
    """Register a Node for every provisioned host whose machine belongs to a cluster that answers.

    Args:
        view: The management cluster.
        hosted: Returns the API server that the Secret ``<cluster>-kubeconfig`` leads to.
    """
    hosts = {host["metadata"]["uid"]: host for host in view.all(*HOST)}
    for host in hosts.values():
        if dig(host, "status", "provisioning", "state") != "provisioned" or deleting(host):
            continue
        consumer = dig(host, "spec", "consumerRef") or {}
        machine = view.find(API, "Metal3Machine", consumer.get("name"), consumer.get("namespace"))
        if machine is None or deleting(machine) or not dig(machine, "spec", "providerID"):
            continue
        cluster = hosted((machine["metadata"].get("labels") or {}).get(CLUSTER_LABEL, ""))
        if cluster is None:
            continue
        node = _node(view, host, machine)
        known = cluster.find("v1", "Node", node["metadata"]["name"])
        if known is None:
            cluster.create(node)
        elif dig(known, "spec", "providerID") != node["spec"]["providerID"]:
            # The same host came back as another machine before the old Node was cleaned up.
            cluster.delete(known)


def _node(view: View, host: Object, machine: Object) -> Object:
    namespace = machine["metadata"].get("namespace")
    capi = view.find(*MACHINE, owner(machine, "Machine"), namespace) or {}
    config = view.find(*KUBEADM, dig(capi, "spec", "bootstrap", "configRef", "name"), namespace) or {}
    registration = dig(config, "spec", "joinConfiguration", "nodeRegistration") or {}
    name = _name(view, host, machine)
    image = PurePosixPath(urlparse(dig(host, "spec", "image", "url") or "").path)
    cores = dig(host, "status", "hardware", "cpu", "count") or 1
    memory = dig(host, "status", "hardware", "ramMebibytes") or 1024
    resources = {"cpu": str(cores), "memory": f"{memory}Mi", "pods": "250", "ephemeral-storage": "1Ti"}
    uid = host["metadata"]["uid"]
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        _UUID: uid,
        **_extra_labels(registration, uid),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": {"providerID": machine["spec"]["providerID"], "taints": registration.get("taints") or []},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "addresses": [{"type": "Hostname", "address": name}],
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "osImage": image.stem,
                "kubeletVersion": dig(capi, "spec", "version") or "",
                # No image was booted: what would be read off one is left open.
                "kubeProxyVersion": "",
                "containerRuntimeVersion": "",
                "kernelVersion": "",
                "machineID": uid,
                "systemUUID": uid,
                "bootID": uid,
            },
        },
    }


def _name(view: View, host: Object, machine: Object) -> str:
    """Return what the metadata's ``name`` says, as the machine's data template has it, else the host's name."""
    template = dig(machine, "spec", "dataTemplate", "name")
    found = view.find(API, "Metal3DataTemplate", template, machine["metadata"].get("namespace")) or {}
    names = {
        "baremetalhost": host["metadata"]["name"],
        "metal3machine": machine["metadata"]["name"],
        "machine": owner(machine, "Machine"),
    }
    for entry in dig(found, "spec", "metaData", "objectNames") or ():
        if entry["key"] == "name":
            return str(names[entry["object"]])
    return str(names["baremetalhost"])


def _extra_labels(registration: Object, uid: str) -> dict[str, str]:
    """Return the labels of the kubelet's ``--node-labels``."""
    arguments = registration.get("kubeletExtraArgs") or ()
    text = ",".join(entry.get("value", "") for entry in arguments if entry["name"] == "node-labels")
    pairs = [label.partition("=") for label in text.split(",") if label]
    # The one template that node labels use: the host's identity, from the machine's metadata.
    return {key: uid if "ds.meta_data.uuid" in value else value for key, _, value in pairs}
