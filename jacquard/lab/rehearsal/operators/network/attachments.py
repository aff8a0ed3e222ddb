"""What Multus does once it is on the nodes of a tenant's cluster: a pod gets the networks that it names, or waits.

A pod that names networks waits for its sandbox, and a sandbox for each of its networks (`stages/nodes.yaml`). As in
k8snetworkplumbingwg/multus-cni:pkg/multus/multus.go all attachments are looked up first, each with a device of the
resource that it names, then their plugins are called in the order of the pod's annotation. What they gave stands in the
pod's status annotation; what one refuses, in the event that the kubelet writes, and the pod gets none. Without Multus
the annotation means nothing. The status leaves out the node's own network, whose address comes later.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jacquard.lab.rehearsal.operators.events import warning
from jacquard.lab.rehearsal.operators.network import adapters
from jacquard.lab.rehearsal.operators.network.address_pools import NETWORK_STATUS, Addresses
from jacquard.lab.rehearsal.operators.network.network_plugins import CONFIGURED, INFINIBAND, Call, Refused, Result, add
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, now
from jacquard.providers.kube.objects import dig

ATTACHMENT = ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition")
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""Annotation by which a pod names networks."""
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

    def __init__(self, is_exclusive: Callable[[str], bool]) -> None:
        """Begin; ``is_exclusive`` tells of an image whether its kernel keeps RDMA devices to one network namespace."""
        self._is_exclusive = is_exclusive
        self._told: dict[str, str] = {}

    def reconcile(self, view: View) -> None:
        """Say of each pod of a cluster that waits for its sandbox whether that is made, and else why not."""
        waiting = [pod for pod in view.all("v1", "Pod") if _waits(pod)]
        if not waiting:
            return
        addresses = Addresses(view) if _has_multus(view) else None
        for pod in waiting:
            try:
                given = self._networks(view, pod, addresses) if addresses else []
            except Refused as reason:
                if addresses:
                    addresses.take_back()
                if self._told.get(pod["metadata"]["uid"]) != str(reason):
                    self._told[pod["metadata"]["uid"]] = str(reason)
                    _refuse(view, pod, str(reason))
            else:
                if addresses:
                    addresses.keep()
                _make(view, pod, given)

    def _networks(self, view: View, pod: Object, addresses: Addresses) -> list[Result]:
        """Return what the plugins of a pod's networks give it.

        Raises:
            Refused: One gives nothing.
        """
        node = view.find("v1", "Node", pod["spec"]["nodeName"]) or {"metadata": {}}
        exclusive = self._is_exclusive(dig(node, "status", "nodeInfo", "osImage") or "")
        answers = []
        try:
            for index, (network, config, device) in enumerate(_delegates(view, pod, node), start=1):
                interface = network.entry.get("interface") or f"net{index}"
                call = Call(
                    pod_uid=pod["metadata"]["uid"],
                    node=pod["spec"]["nodeName"],
                    interface=interface,
                    device=device,
                    arguments=network.arguments,
                    guid=network.guid,
                    exclusive=exclusive,
                    addresses=addresses,
                )
                answers.append(_status(network, config, call))
        except (KeyError, TypeError, ValueError) as error:
            msg = f"failed to parse networks of the pod: {error}"
            raise Refused(msg) from error
        return answers


def _waits(pod: Object) -> bool:
    named = (pod["metadata"].get("annotations") or {}).get(NETWORKS)
    placed = dig(pod, "status", "phase") == "Pending" and dig(pod, "spec", "nodeName")
    return bool(named and placed) and not deleting(pod) and not _is_made(pod)


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


def _delegates(view: View, pod: Object, node: Object) -> list[tuple[Network, Object, adapters.Device | None]]:
    """Return the networks that a pod names, each with its configuration and a device where the pod has one for it.

    Raises:
        Refused: An attachment is not there.
    """
    found, left = [], _devices(pod)
    for network in networks(pod):
        attachment = view.find(*ATTACHMENT, network.name, network.namespace)
        if attachment is None:
            place = f"({network.name}) in namespace ({network.namespace})"
            msg = f"error in getting k8s network for pod: cannot find a network-attachment-definition {place}"
            raise Refused(msg)
        resource = (attachment["metadata"].get("annotations") or {}).get(_RESOURCE, "")
        device = adapters.device(view, node, resource) if left[resource] else None
        left[resource] -= 1
        found.append((network, json.loads(attachment["spec"]["config"]), device))
    return found


def _status(network: Network, config: Object, call: Call) -> Result:
    """Return what Multus tells of a network that a pod got, as network-attachment-definition-client has it.

    Raises:
        Refused: Its plugins give nothing.
    """
    try:
        answer = add(config, call)
    except Refused as reason:
        msg = f'error adding container to network "{config.get("name", network.name)}": {reason}'
        raise Refused(msg) from None
    return {"name": "/".join(network.identity), "interface": call.interface, **answer, "dns": {}}


def _devices(pod: Object) -> Counter[str]:
    """Return how many devices of each resource a pod is given."""
    found = Counter[str]()
    for container in pod["spec"]["containers"]:
        for resource, count in (dig(container, "resources", "limits") or {}).items():
            if str(count).isdecimal():
                found[resource] += int(count)
    return found


def _make(view: View, pod: Object, given: list[Result]) -> None:
    """Say that a sandbox is made, and what is in it: like Multus in one step, by the pod's status."""
    annotations = {"annotations": {NETWORK_STATUS: json.dumps(given, indent=4)}} if given else {}
    view.patch(pod, {"metadata": annotations, "status": _condition(pod, "True")}, "status")


def _refuse(view: View, pod: Object, reason: str) -> None:
    view.status(pod, _condition(pod, "False"))
    message = f'Failed to create pod sandbox: plugin type="multus" failed (add): {reason}'
    view.create(warning(pod, "FailedCreatePodSandBox", message, component="kubelet", host=pod["spec"]["nodeName"]))


def _condition(pod: Object, status: str) -> Object:
    others = [one for one in dig(pod, "status", "conditions") or () if one["type"] != _SANDBOX]
    return {"conditions": [*others, {"type": _SANDBOX, "status": status, "lastTransitionTime": now()}]}
