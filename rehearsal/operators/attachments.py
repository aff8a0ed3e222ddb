"""What Multus does once it is on the nodes of a tenant's cluster: a pod gets the networks that it names, or waits.

A pod that names networks waits for its sandbox, and a sandbox for each of its networks (`stages/nodes.yaml`). Asked is
what k8snetworkplumbingwg/multus-cni and k8snetworkplumbingwg/ib-sriov-cni:cmd/ib-sriov-cni ask, and refused in their
words, in the event that the kubelet writes: the attachment, the word of ib-kubernetes, a device of the resource that
the attachment names, a GUID. Without Multus the annotation means nothing. No interface is made.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from providers.kube.objects import dig
from rehearsal.operators.view import Object, View, deleting, now

ATTACHMENT = ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition")
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""Annotation by which a pod names networks."""
CONFIGURED = ("mellanox.infiniband.app", "configured")
"""What ib-kubernetes says of a network of a pod once UFM has its GUID."""
INFINIBAND = "ib-sriov"
_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_POLICY = ("mellanox.com/v1alpha1", "NicClusterPolicy")
_SANDBOX = "PodReadyToStartContainers"
_WRITTEN_SHORT = re.compile(r"(?:(?P<namespace>[^/@]+)/)?(?P<name>[^/@]+)(?:@(?P<interface>[^/@]+))?")


@dataclass(frozen=True, slots=True)
class Network:
    """A network that a pod names."""

    entry: dict[str, Any]
    """Entry of the annotation in its long form."""
    namespace: str
    name: str

    @property
    def identity(self) -> tuple[str, str]:
        """Return namespace and name of its attachment."""
        return self.namespace, self.name

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what its plugin is told of the pod."""
        return dict(self.entry.get("cni-args") or {})

    @property
    def guid(self) -> str | None:
        """Return the GUID that its plugin is told, or None."""
        return self.entry.get("infiniband-guid") or self.arguments.get("guid")

    @property
    def is_configured(self) -> bool:
        """Tell whether ib-kubernetes has seen to it."""
        key, value = CONFIGURED
        return self.arguments.get(key) == value


def networks(pod: Object) -> list[Network]:
    """Return the networks that a pod names, in JSON or in the short form; none where it is on the node's.

    Raises:
        ValueError: The annotation is neither.
    """
    text = (pod["metadata"].get("annotations") or {}).get(NETWORKS, "").strip()
    if not text or dig(pod, "spec", "hostNetwork"):
        return []
    entries = json.loads(text) if text.startswith("[") else [_long(word.strip()) for word in text.split(",")]
    own = pod["metadata"]["namespace"]
    return [Network(entry, entry.get("namespace") or own, entry["name"]) for entry in entries]


def configuration(attachment: Object) -> dict[str, Any]:
    """Return the configuration of the plugin that an attachment is for, of a list of them that of InfiniBand."""
    config: dict[str, Any] = json.loads(attachment["spec"]["config"])
    plugins = config.get("plugins") or [config]
    return next((one for one in plugins if one.get("type") == INFINIBAND), plugins[0])


class Sandboxes:
    """The sandboxes of pods that name networks, in all clusters; it remembers what it has told of which pod."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def reconcile(self, view: View) -> None:
        """Say of each pod of a cluster that waits for its sandbox whether that is made, and else why not."""
        for pod in view.all("v1", "Pod"):
            named = (pod["metadata"].get("annotations") or {}).get(NETWORKS)
            waits = dig(pod, "status", "phase") == "Pending" and dig(pod, "spec", "nodeName") and not deleting(pod)
            if not named or not waits or _is_made(pod):
                continue
            lacking = _lacking(view, pod) if _has_multus(view) else ""
            if self._told.get(pod["metadata"]["uid"]) == lacking != "":
                continue
            self._told[pod["metadata"]["uid"]] = lacking
            _say(view, pod, lacking)


def _long(word: str) -> dict[str, Any]:
    found = _WRITTEN_SHORT.fullmatch(word)
    if found is None:
        msg = f"invalid network name '{word}'"
        raise ValueError(msg)
    return {key: value for key, value in found.groupdict().items() if value}


def _has_multus(view: View) -> bool:
    """Tell whether the network operator has brought Multus to the nodes."""
    return any(
        dig(policy, "spec", "secondaryNetwork", "multus") and dig(policy, "status", "state") == "ready"
        for policy in view.all(*_POLICY)
    )


def _is_made(pod: Object) -> bool:
    conditions = dig(pod, "status", "conditions") or ()
    return any(one["type"] == _SANDBOX and one["status"] == "True" for one in conditions)


def _lacking(view: View, pod: Object) -> str:
    """Return in the words of the first plugin that refuses why a pod cannot have its networks; empty when it can."""
    try:
        return next(_refusals(view, pod), "")
    except (KeyError, TypeError, ValueError) as error:
        return f"failed to parse networks of the pod: {error}"


def _refusals(view: View, pod: Object) -> Iterator[str]:
    devices = _devices(pod)
    for network in networks(pod):
        attachment = view.find(*ATTACHMENT, network.name, network.namespace)
        if attachment is None:
            yield f"cannot find a network-attachment-definition ({network.name}) in namespace ({network.namespace})"
            return
        config = configuration(attachment)
        resource = (attachment["metadata"].get("annotations") or {}).get(_RESOURCE, "")
        if config.get("type") != INFINIBAND:
            continue
        if config.get("ibKubernetesEnabled") and not network.is_configured:
            key, value = CONFIGURED
            yield f'InfiniBand status "{key}" is not "{value}" please check mellanox ib-kubernetes'
        if not devices[resource]:
            yield "deviceID is required"
        devices[resource] -= 1
        if config.get("ibKubernetesEnabled") and not network.guid:
            yield "Unexpected error. GUID must be provided by ib-kubernetes"


def _devices(pod: Object) -> Counter[str]:
    """Return how many devices of each resource a pod is given."""
    found = Counter[str]()
    for container in pod["spec"]["containers"]:
        for resource, count in (dig(container, "resources", "limits") or {}).items():
            if str(count).isdecimal():
                found[resource] += int(count)
    return found


def _say(view: View, pod: Object, lacking: str) -> None:
    others = [one for one in dig(pod, "status", "conditions") or () if one["type"] != _SANDBOX]
    made = {"type": _SANDBOX, "status": "False" if lacking else "True", "lastTransitionTime": now()}
    view.status(pod, {"conditions": [*others, made]})
    if lacking:
        view.create(_event(pod, f'Failed to create pod sandbox: plugin type="multus" failed (add): {lacking}'))


def _event(pod: Object, message: str) -> Object:
    metadata, moment = pod["metadata"], now()
    place = {"namespace": metadata["namespace"], "name": metadata["name"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{time.time_ns():x}", "namespace": metadata["namespace"]},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "uid": metadata["uid"], **place},
        "type": "Warning",
        "reason": "FailedCreatePodSandBox",
        "message": message,
        "source": {"component": "kubelet", "host": pod["spec"]["nodeName"]},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
