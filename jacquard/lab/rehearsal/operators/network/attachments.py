"""Simulated Multus on the nodes of a tenant's cluster: a pod gets all its additional networks, or waits.

A pod with networks waits for its sandbox, and the sandbox for all networks (`stages/nodes.yaml`). As in
k8snetworkplumbingwg/multus-cni:pkg/multus/multus.go, all attachments are looked up first, each with a device of its
resource. Then their plugins are called in the order of the pod's annotation. The results are written to the pod's
status annotation. If a plugin fails, the pod gets no network, and the event of the kubelet contains the message.
Without Multus, the annotation has no effect. The status does not include the node's own network, whose address is
assigned later.
"""

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
"""Annotation with the networks of a pod."""
_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_POLICY = ("mellanox.com/v1alpha1", "NicClusterPolicy")
_SANDBOX = "PodReadyToStartContainers"
_WRITTEN_SHORT = re.compile(r"(?:(?P<namespace>[^/@]+)/)?(?P<name>[^/@]+)(?:@(?P<interface>[^/@]+))?")


@dataclass(frozen=True, slots=True)
class Network:
    """A network in the annotation of a pod."""

    entry: dict[str, Any]
    """Entry of the annotation in JSON form."""
    namespace: str
    name: str

    @property
    def identity(self) -> tuple[str, str]:
        """Return namespace and name of the attachment."""
        return self.namespace, self.name

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the pod for the plugin."""
        return dict(self.entry.get("cni-args") or {})

    @property
    def guid(self) -> str | None:
        """Return the GUID for the plugin, or None."""
        return self.entry.get("infiniband-guid") or self.arguments.get("guid")

    @property
    def is_configured(self) -> bool:
        """Return whether ib-kubernetes has configured the network."""
        key, value = CONFIGURED
        return self.arguments.get(key) == value


def networks(pod: Object) -> list[Network]:
    """Return the networks of a pod, from JSON or the short form; none for pods with host network.

    Raises:
        ValueError: The annotation is invalid.
    """
    text = (pod["metadata"].get("annotations") or {}).get(NETWORKS, "").strip()
    if not text or dig(pod, "spec", "hostNetwork"):
        return []
    entries = json.loads(text) if text.startswith("[") else [_long(name.strip()) for name in text.split(",")]
    default = pod["metadata"]["namespace"]
    return [Network(entry, entry.get("namespace") or default, entry["name"]) for entry in entries]


def configuration(attachment: Object) -> dict[str, Any]:
    """Return the plugin configuration of an attachment; from a list, the InfiniBand plugin or the first plugin."""
    config: dict[str, Any] = json.loads(attachment["spec"]["config"])
    plugins = config.get("plugins") or [config]
    return next((plugin for plugin in plugins if plugin.get("type") == INFINIBAND), plugins[0])


class Sandboxes:
    """The sandboxes of pods with networks in all clusters, with the reported problem of each pod."""

    def __init__(self, is_exclusive: Callable[[str], bool]) -> None:
        """Start; ``is_exclusive`` returns whether an image's kernel restricts RDMA devices to one network namespace."""
        self._is_exclusive = is_exclusive
        self._reported: dict[str, str] = {}

    def reconcile(self, view: View) -> None:
        """Update all pods of a cluster that wait for their sandbox: report its creation, or the problem."""
        waiting = [pod for pod in view.all("v1", "Pod") if waits_for_sandbox(pod)]
        if not waiting:
            return
        addresses = Addresses(view) if _has_multus(view) else None
        for pod in waiting:
            try:
                results = self._networks(view, pod, addresses) if addresses else []
            except Refused as reason:
                if addresses:
                    addresses.take_back()
                if self._reported.get(pod["metadata"]["uid"]) != str(reason):
                    self._reported[pod["metadata"]["uid"]] = str(reason)
                    _refuse(view, pod, str(reason))
            else:
                if addresses:
                    addresses.keep()
                _report_created(view, pod, results)

    def _networks(self, view: View, pod: Object, addresses: Addresses) -> list[Result]:
        """Return the results of the plugins for all networks of a pod.

        Raises:
            Refused: A plugin fails.
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


def waits_for_sandbox(pod: Object) -> bool:
    """Return whether a pod with networks is on a node, and its networks are not attached yet."""
    has_networks = (pod["metadata"].get("annotations") or {}).get(NETWORKS)
    scheduled = dig(pod, "status", "phase") == "Pending" and dig(pod, "spec", "nodeName")
    return bool(has_networks and scheduled) and not deleting(pod) and not _is_created(pod)


def _long(text: str) -> dict[str, Any]:
    match = _WRITTEN_SHORT.fullmatch(text)
    if match is None:
        msg = f"invalid network name '{text}'"
        raise ValueError(msg)
    return {key: value for key, value in match.groupdict().items() if value}


def _has_multus(view: View) -> bool:
    """Return whether the network operator has installed Multus on the nodes."""
    return any(
        dig(policy, "spec", "secondaryNetwork", "multus") and dig(policy, "status", "state") == "ready"
        for policy in view.all(*_POLICY)
    )


def _is_created(pod: Object) -> bool:
    conditions = dig(pod, "status", "conditions") or ()
    return any(condition["type"] == _SANDBOX and condition["status"] == "True" for condition in conditions)


def _delegates(view: View, pod: Object, node: Object) -> list[tuple[Network, Object, adapters.Device | None]]:
    """Return the networks of a pod, each with its configuration and an unused device of the pod, if any.

    Raises:
        Refused: An attachment does not exist.
    """
    delegates, left = [], _devices(pod)
    for network in networks(pod):
        attachment = view.find(*ATTACHMENT, network.name, network.namespace)
        if attachment is None:
            place = f"({network.name}) in namespace ({network.namespace})"
            msg = f"error in getting k8s network for pod: cannot find a network-attachment-definition {place}"
            raise Refused(msg)
        resource = (attachment["metadata"].get("annotations") or {}).get(_RESOURCE, "")
        device = adapters.device(view, node, resource) if left[resource] else None
        left[resource] -= 1
        delegates.append((network, json.loads(attachment["spec"]["config"]), device))
    return delegates


def _status(network: Network, config: Object, call: Call) -> Result:
    """Return Multus' status entry of a network, in the format of network-attachment-definition-client.

    Raises:
        Refused: A plugin fails.
    """
    try:
        answer = add(config, call)
    except Refused as reason:
        msg = f'error adding container to network "{config.get("name", network.name)}": {reason}'
        raise Refused(msg) from None
    return {"name": "/".join(network.identity), "interface": call.interface, **answer, "dns": {}}


def _devices(pod: Object) -> Counter[str]:
    """Return the number of devices of a pod by resource."""
    counts = Counter[str]()
    for container in pod["spec"]["containers"]:
        for resource, count in (dig(container, "resources", "limits") or {}).items():
            if str(count).isdecimal():
                counts[resource] += int(count)
    return counts


def _report_created(view: View, pod: Object, results: list[Result]) -> None:
    """Report a created sandbox and its networks in one patch of the pod's status, like Multus."""
    annotations = {"annotations": {NETWORK_STATUS: json.dumps(results, indent=4)}} if results else {}
    view.patch(pod, {"metadata": annotations, "status": _condition(pod, "True")}, "status")


def _refuse(view: View, pod: Object, reason: str) -> None:
    view.status(pod, _condition(pod, "False"))
    message = f'Failed to create pod sandbox: plugin type="multus" failed (add): {reason}'
    view.create(warning(pod, "FailedCreatePodSandBox", message, component="kubelet", host=pod["spec"]["nodeName"]))


def _condition(pod: Object, status: str) -> Object:
    others = [condition for condition in dig(pod, "status", "conditions") or () if condition["type"] != _SANDBOX]
    return {"conditions": [*others, {"type": _SANDBOX, "status": status, "lastTransitionTime": now()}]}
