"""Simulated CAPM3: a Metal3Machine claims a free matching host, and releases it when it is deleted.

Labels of a claimed host are copied to its Node.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from jacquard.lab.rehearsal.operators.hosts import node_data
from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.lab.rehearsal.operators.references import Reference, missing
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, let_go, owner, reported
from jacquard.providers.kube.objects import dig

API = "infrastructure.cluster.x-k8s.io/v1beta2"
MACHINE = ("cluster.x-k8s.io/v1beta2", "Machine")
CLUSTER = ("cluster.x-k8s.io/v1beta2", "Cluster")
CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name"
_ANNOTATION = "metal3.io/BareMetalHost"
_FINALIZER = "metal3machine.infrastructure.cluster.x-k8s.io"
_FAILURE_DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain"
_UNHEALTHY = ("capm3.metal3.io/unhealthy", "capi.metal3.io/unhealthy")
_PAUSED = "baremetalhost.metal3.io/paused"
_LABEL_PREFIXES = "metal3.io/metal3-label-sync-prefixes"
"""Annotation of a Metal3Cluster: prefixes of the labels that are copied from hosts to Nodes, separated by commas."""
_PROVIDER = ("operator.cluster.x-k8s.io/v1alpha2", "InfrastructureProvider")
_STAYS_ON = {"name": "CAPM3_FAST_TRACK", "value": "true"}
"""Environment variable of CAPM3 with which released hosts keep their power."""
_DATA_TEMPLATE = (Reference("spec.dataTemplate", API, "Metal3DataTemplate"),)
_OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "in": lambda value, wanted: value in wanted,
    "notin": lambda value, wanted: value not in wanted,
    "exists": lambda value, _: value is not None,
    "!": lambda value, _: value is None,
    "doesnotexist": lambda value, _: value is None,
    "=": lambda value, wanted: [value] == wanted,
    "==": lambda value, wanted: [value] == wanted,
    "!=": lambda value, wanted: [value] != wanted,
}
"""Selection operators of a hostSelector and of a label selector."""


def reconcile(view: View) -> None:
    """Update all Metal3Machines."""
    hosts = list(view.all(*HOST))
    claimed = {key: host for host in hosts if (key := _consumer(host))}
    free = _FreeHosts(hosts)
    for machine in view.all(API, "Metal3Machine"):
        key = (machine["metadata"].get("namespace", ""), machine["metadata"]["name"])
        if deleting(machine):
            _release(view, machine, claimed.get(key))
        elif key in claimed:
            _follow(view, machine, claimed[key])
        else:
            # Upstream chooses randomly and retries when its claim is rejected; the result is a permitted host.
            for host in _choices(view, machine, free):
                if _claim(view, machine, host):
                    free.take(host)
                    break
                free.reject(host)


def copy_labels(view: View, hosted: Callable[[str], View | None]) -> None:
    """Copy labels of claimed hosts to their Nodes, and remove other labels with the same prefixes from the Nodes.

    Source: CAPM3:controllers/metal3labelsync_controller.go. Upstream copies labels every 60 seconds.

    Args:
        view: The management cluster.
        hosted: Returns the API server of a cluster.
    """
    for host in view.all(*HOST):
        consumer, notes = dig(host, "spec", "consumerRef") or {}, host["metadata"].get("annotations") or {}
        place = consumer.get("namespace")
        machine = view.find(API, "Metal3Machine", consumer.get("name"), place)
        if machine is None or _PAUSED in notes:
            continue
        capi = view.find(*MACHINE, owner(machine, "Machine"), place)
        name, cluster = dig(capi, "status", "nodeRef", "name"), dig(capi, "spec", "clusterName")
        reference = dig(view.find(*CLUSTER, cluster, place), "spec", "infrastructureRef", "name")
        annotations = dig(view.find(API, "Metal3Cluster", reference, place), "metadata", "annotations") or {}
        prefixes = {prefix.strip() for prefix in annotations.get(_LABEL_PREFIXES, "").split(",")} - {""}
        tenant = hosted(cluster) if name and prefixes else None
        node = tenant.find("v1", "Node", name) if tenant else None
        if tenant is None or node is None:
            continue
        wanted, known = (_with_prefixes(body, prefixes) for body in (host, node))
        if wanted != known:
            tenant.patch(node, {"metadata": {"labels": {**dict.fromkeys(known), **wanted}}})


def _with_prefixes(body: Object, prefixes: set[str]) -> dict[str, str]:
    labels = body["metadata"].get("labels") or {}
    return {key: value for key, value in labels.items() if "/" in key and key.partition("/")[0] in prefixes}


def selects(selector: Object, labels: dict[str, str]) -> bool:
    """Return whether a hostSelector matches the labels of a host."""
    if not selector.get("matchLabels", {}).items() <= labels.items():
        return False
    return all(
        _OPERATORS[entry["operator"].lower()](labels.get(entry["key"]), entry.get("values") or [])
        for entry in selector.get("matchExpressions") or ()
    )


def _consumer(host: Object) -> tuple[str, str] | None:
    consumer = dig(host, "spec", "consumerRef") or {}
    if consumer.get("kind") != "Metal3Machine":
        return None
    return consumer.get("namespace") or host["metadata"].get("namespace", ""), consumer["name"]


class _FreeHosts:
    """The free hosts of one round, by label; machines with equal selectors share a selection."""

    def __init__(self, hosts: Iterable[Object]) -> None:
        self._hosts = [host for host in hosts if _is_free(host)]
        self._labelled: dict[tuple[str, str], list[Object]] = defaultdict(list)
        for host in self._hosts:
            for label in (host["metadata"].get("labels") or {}).items():
                self._labelled[label].append(host)
        self._selected: dict[tuple[str, str, str | None], deque[Object]] = {}
        self._taken: set[str] = set()
        """UIDs of hosts that were claimed or rejected in this round."""
        self.are_rejected = False
        """Whether the API server rejected the claim of a host in this round."""

    def matching(self, namespace: str, selector: Object, domain: str | None = None) -> Iterator[Object]:
        """Yield the free hosts of a namespace that match a hostSelector and, unless None, a failure domain."""
        key = (namespace, repr(selector), domain)
        if key not in self._selected:
            self._selected[key] = deque(self._select(namespace, selector, domain))
        selected = self._selected[key]
        # Claimed hosts are usually the first ones, and are dropped here instead of being read for each machine.
        while selected and selected[0]["metadata"]["uid"] in self._taken:
            selected.popleft()
        return (host for host in selected if host["metadata"]["uid"] not in self._taken)

    def take(self, host: Object) -> None:
        """Remove a claimed host."""
        self._taken.add(host["metadata"]["uid"])

    def reject(self, host: Object) -> None:
        """Remove a host for this round, because the next machine would get the same answer."""
        self.take(host)
        self.are_rejected = True

    def _select(self, namespace: str, selector: Object, domain: str | None) -> Iterator[Object]:
        labelled = [self._labelled.get(label, []) for label in selector.get("matchLabels", {}).items()]
        for host in min(labelled, key=len, default=self._hosts):
            labels = host["metadata"].get("labels") or {}
            is_near = domain in {None, labels.get(_FAILURE_DOMAIN)}
            if is_near and host["metadata"].get("namespace") == namespace and selects(selector, labels):
                yield host


def _choices(view: View, machine: Object, hosts: _FreeHosts) -> Iterable[Object]:
    """Return the candidate hosts of a machine, in its failure domain if it has free hosts.

    Empty without free hosts, or while prerequisites are not met.
    """
    namespace = machine["metadata"].get("namespace", "")
    capi = view.find(*MACHINE, owner(machine, "Machine"), namespace)
    if capi is None or not dig(capi, "spec", "bootstrap", "dataSecretName"):
        return ()
    cluster = view.find(*CLUSTER, capi["spec"]["clusterName"], namespace)
    if not dig(cluster, "status", "initialization", "infrastructureProvisioned"):
        return ()
    lacking = missing(view, machine, _DATA_TEMPLATE)
    selector = dig(machine, "spec", "hostSelector") or {}
    domain = dig(machine, "spec", "failureDomain") or dig(capi, "spec", "failureDomain")
    near = hosts.matching(namespace, selector, domain) if domain else iter(())
    choices = near if (first := next(near, None)) else hosts.matching(namespace, selector)
    first = first or next(choices, None)
    if first is None and hosts.are_rejected and not lacking:
        return ()
    if lacking or first is None:
        problem = "; ".join(lacking) or "no available host matches the host selector"
        patch = conditions(machine, AssociateBareMetalHost=("False", "AssociateBareMetalHostFailed", problem))
        if patch:
            view.status(machine, patch)
        return ()
    problem = node_data.lacking(view, machine, first)
    if problem and (patch := conditions(machine, Metal3DataReady=("False", "WaitingForMetal3Data", problem))):
        view.status(machine, patch)
    return () if problem else chain([first], choices)


def _is_free(host: Object) -> bool:
    annotations = host["metadata"].get("annotations") or {}
    return (
        not deleting(host)
        and not dig(host, "spec", "consumerRef")
        and dig(host, "status", "provisioning", "state") in {"available", "ready"}
        and not dig(host, "status", "errorMessage")
        and annotations.keys().isdisjoint(_UNHEALTHY)
        and _PAUSED not in annotations
    )


def _claim(view: View, machine: Object, host: Object) -> bool:
    """Claim a host, and return whether the API server accepted the claim."""
    metadata = machine["metadata"]
    image = dict(dig(machine, "spec", "image") or {})
    if "diskFormat" in image:
        image["format"] = image.pop("diskFormat")
    capi = view.find(*MACHINE, owner(machine, "Machine"), metadata.get("namespace")) or {}
    spec: dict[str, Any] = {
        "consumerRef": {
            "apiVersion": API,
            "kind": "Metal3Machine",
            "name": metadata["name"],
            "namespace": metadata.get("namespace"),
        },
        "image": image or None,
        "userData": {"name": dig(capi, "spec", "bootstrap", "dataSecretName"), "namespace": metadata.get("namespace")},
        "online": True,
    }
    if mode := dig(machine, "spec", "automatedCleaningMode"):
        spec["automatedCleaningMode"] = mode
    labels = {CLUSTER_LABEL: (metadata.get("labels") or {}).get(CLUSTER_LABEL)}
    return view.patch(host, {"metadata": {"labels": labels}, "spec": spec})


def _follow(view: View, machine: Object, host: Object) -> None:
    """Report the state of a machine's host in the machine's status."""
    metadata = machine["metadata"]
    place = f"{host['metadata'].get('namespace', '')}/{host['metadata']['name']}"
    finalizers = metadata.get("finalizers") or []
    annotations = metadata.get("annotations") or {}
    patch: Object = {}
    if _FINALIZER not in finalizers or annotations.get(_ANNOTATION) != place:
        patch["metadata"] = {
            "finalizers": [*(name for name in finalizers if name != _FINALIZER), _FINALIZER],
            "annotations": {_ANNOTATION: place},
        }
    provisioned = dig(host, "status", "provisioning", "state") == "provisioned"
    if provisioned and not dig(machine, "spec", "providerID"):
        patch["spec"] = {"providerID": f"metal3://{place}/{metadata['name']}"}
    if patch:
        view.patch(machine, patch)
        return
    if provisioned and not reported(machine, "Ready"):
        done = {name: ("True", name, "") for name in ("Ready", "AssociateBareMetalHost", "Metal3DataReady")}
        addresses = [{"type": "Hostname", "address": host["metadata"]["name"]}]
        status = {"initialization": {"provisioned": True}, "addresses": addresses, **conditions(machine, **done)}
        view.status(machine, status)


def _release(view: View, machine: Object, host: Object | None) -> None:
    """Release the host, which is wiped before it becomes free; it is then off, unless CAPM3 is configured otherwise."""
    if host is not None and dig(host, "spec", "image"):
        removed = dict.fromkeys(("image", "userData", "metaData", "networkData"))
        view.patch(host, {"spec": {**removed, "online": _stays_on(view)}})
    elif host is not None and dig(host, "status", "provisioning", "state") not in {"available", "ready", None}:
        return
    elif host is not None:
        view.patch(host, {"metadata": {"labels": {CLUSTER_LABEL: None}}, "spec": {"consumerRef": None}})
    else:
        let_go(view, machine, _FINALIZER)


def _stays_on(view: View) -> bool:
    """Return whether released hosts keep their power (CAPM3:baremetal/metal3machine_manager.go, Delete)."""
    return any(
        _STAYS_ON in (container.get("env") or ())
        for provider in view.all(*_PROVIDER)
        for container in dig(provider, "spec", "deployment", "containers") or ()
    )
