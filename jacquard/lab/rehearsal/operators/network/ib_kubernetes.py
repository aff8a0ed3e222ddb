"""What ib-kubernetes does: pods of a tenant's cluster get GUIDs, which it enters at the fabric manager (UFM).

One runs for each pod of the management cluster that has its image, with the variables, Secrets and kubeconfig of its
container. It does what Mellanox/ib-kubernetes:pkg/daemon/daemon.go does, and asks the region's UFM (`fabric_manager`)
over its REST calls: pods that wait on a node and name a network of InfiniBand get the next GUIDs of the range, UFM is
told to enter them in the partition of the attachment, then the pod is told in its annotation. One that cannot begin
ends, and its kubelet says so and begins it again. UFM's address is the region's own where the platform gave it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from jacquard.lab.rehearsal.operators.containers import NotThere, mounted_secret, variables
from jacquard.lab.rehearsal.operators.network.attachments import ATTACHMENT, NETWORKS, Network, configuration, networks
from jacquard.lab.rehearsal.operators.network.fabric_client import FabricClient, FabricError
from jacquard.lab.rehearsal.operators.network.fabric_manager import FabricManager
from jacquard.lab.rehearsal.operators.network.guids import GuidPool, NoGuid, number, octets
from jacquard.lab.rehearsal.operators.network.network_plugins import CONFIGURED, INFINIBAND
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, deleting
from jacquard.providers.kube.objects import dig

_IMAGE = "/ib-kubernetes"
_PLUGIN = "ufm"
_KUBECONFIG = "-kubeconfig"
_AGAIN_SECONDS = 10.0
"""After what length of time one that ended is begun again, as a kubelet does at first."""
_LAST_PKEY = 0x7FFF

Hosted = Callable[[str], View | None]


class Ended(Exception):  # noqa: N818 - what its log says last
    """An ib-kubernetes that cannot begin, and why."""


class Daemons:
    """All ib-kubernetes of a region, by the pod that each runs in."""

    def __init__(self, manager: FabricManager) -> None:
        self._manager = manager
        self._running: dict[str, tuple[str, Daemon]] = {}
        """Cluster and daemon by the pod's UID."""
        self._not_before: dict[str, float] = {}

    def reconcile(self, management: View, hosted: Hosted) -> None:
        """Begin those that are new, bring each on by a round, and forget those whose pod is gone."""
        there = {pod["metadata"]["uid"]: (pod, container) for pod, container in _pods(management)}
        self._running = {uid: one for uid, one in self._running.items() if uid in there}
        for uid, (pod, container) in there.items():
            if uid not in self._running and self._not_before.get(uid, 0.0) <= time.monotonic():
                self._begin(management, hosted, pod, container)
            if uid in self._running:
                cluster, daemon = self._running[uid]
                view = hosted(cluster)
                if view is not None:
                    daemon.reconcile(view)

    def _begin(self, management: View, hosted: Hosted, pod: Object, container: Object) -> None:
        uid = pod["metadata"]["uid"]
        try:
            told = variables(management, pod, container)
            cluster = _cluster(pod, container, told)
            view = hosted(cluster)
            if view is None:
                return
            self._running[uid] = (cluster, Daemon(told, self._manager, view))
            _say(management, pod)
        except NotThere as reason:
            _say(management, pod, "CreateContainerConfigError", str(reason))
        except (Ended, FabricError) as reason:
            self._not_before[uid] = time.monotonic() + _AGAIN_SECONDS
            LOG.warning("%s: %s", pod["metadata"]["name"], reason)
            told_by = f"back-off {_AGAIN_SECONDS:g}s restarting failed container={container['name']}"
            _say(management, pod, "CrashLoopBackOff", told_by)


class Daemon:
    """One ib-kubernetes from its begin: what it reads then it reads once, attachments too."""

    def __init__(self, told: dict[str, str], manager: FabricManager, view: View) -> None:
        """Begin as upstream does: with plugin, login and range, UFM's version, and what UFM and pods have.

        Raises:
            Ended: It cannot.
            FabricError: UFM does not answer, or not to this login.
        """
        if told.get("DAEMON_SM_PLUGIN") != _PLUGIN:
            msg = f"failed to load plugin {told.get('DAEMON_SM_PLUGIN')!r}"
            raise Ended(msg)
        self._client = FabricClient.told(told, manager)
        self._client.version()
        try:
            self._pool = GuidPool(told["GUID_POOL_RANGE_START"], told["GUID_POOL_RANGE_END"])
        except (KeyError, ValueError) as error:
            msg = f"no range of GUIDs: {error}"
            raise Ended(msg) from None
        self._attachments: dict[tuple[str, str], Object] = {}
        self._given: dict[str, tuple[int, str]] = {}
        """GUID and partition by pod and network."""
        for pod in view.all("v1", "Pod"):
            for key, network in _named(pod):
                if network.is_configured and network.guid and not _is_finished(pod):
                    self._given[key] = (number(network.guid), str(network.arguments.get("pkey")))
        self._pool.reset(self._client.guids())

    def reconcile(self, view: View) -> None:
        """Give pods that wait their GUIDs, and take those back whose pods have ended; what fails is tried again."""
        pods = list(view.all("v1", "Pod"))
        there = {key for pod in pods if not _is_finished(pod) for key, _ in _named(pod)}
        for key in [key for key in self._given if key not in there]:
            guid, pkey = self._given[key]
            try:
                self._client.remove(_partition(pkey), guid)
            except (FabricError, ValueError) as reason:
                LOG.warning("ib-kubernetes: GUID %s: %s", octets(guid), reason)
                continue
            self._pool.release(guid)
            del self._given[key]
        for pod in pods:
            if dig(pod, "status", "phase") == "Pending" and dig(pod, "spec", "nodeName") and not deleting(pod):
                self._give(view, pod)

    def _give(self, view: View, pod: Object) -> None:
        """Enter a pod's networks of InfiniBand at UFM and tell the pod, or say in the log why that cannot be."""
        all_networks = _named(pod)
        waiting = [(key, one) for key, one in all_networks if not one.is_configured and self._is_ours(view, one)]
        for key, network in waiting:
            pkey = configuration(self._attachments[network.identity])["pkey"]
            try:
                guid = self._guid(key, network, pkey)
                self._client.add(_partition(pkey), guid)
            except (FabricError, NoGuid, ValueError) as reason:
                LOG.warning("ib-kubernetes: pod %s: %s", pod["metadata"]["name"], reason)
                return
            word, value = CONFIGURED
            arguments = {"guid": octets(guid), **network.arguments, word: value, "pkey": pkey}
            network.entry.update({"namespace": network.namespace, "cni-args": arguments})
        if waiting:
            text = json.dumps([network.entry for _, network in all_networks])
            view.patch(pod, {"metadata": {"annotations": {NETWORKS: text}}})

    def _is_ours(self, view: View, network: Network) -> bool:
        """Tell whether a network is one of InfiniBand; an attachment stays to it what it was at first sight."""
        found = self._attachments.get(network.identity) or view.find(*ATTACHMENT, network.name, network.namespace)
        if found is None:
            return False
        self._attachments[network.identity] = found
        return configuration(found).get("type") == INFINIBAND

    def _guid(self, key: str, network: Network, pkey: str) -> int:
        """Return the GUID of a network of a pod: what it has, what it asks for, or the next one."""
        if key in self._given:
            return self._given[key][0]
        if network.guid:
            guid = number(network.guid)
            self._pool.take(guid)
        else:
            try:
                guid = self._pool.give()
            except NoGuid:
                self._pool.reset(self._client.guids())
                raise
        self._given[key] = (guid, pkey)
        return guid


def _pods(management: View) -> Iterator[tuple[Object, Object]]:
    for pod in management.all("v1", "Pod"):
        if not deleting(pod) and dig(pod, "status", "phase") == "Running":
            for container in pod["spec"]["containers"]:
                if container["image"].partition("@")[0].endswith(_IMAGE):
                    yield pod, container


def _cluster(pod: Object, container: Object, told: dict[str, str]) -> str:
    """Return the cluster that the kubeconfig of a container leads to."""
    secret = mounted_secret(pod, container, PurePosixPath(told.get("KUBECONFIG", "")))
    if secret is None:
        msg = "unable to load in-cluster configuration"
        raise Ended(msg)
    return secret.removesuffix(_KUBECONFIG)


def _named(pod: Object) -> list[tuple[str, Network]]:
    """Return the networks that a pod names, each with what tells it from all others; none where they are not read."""
    try:
        found = networks(pod)
    except (KeyError, TypeError, ValueError) as error:
        LOG.debug("ib-kubernetes: pod %s: %s", pod["metadata"]["name"], error)
        return []
    return [(f"{pod['metadata']['uid']}_{index}", network) for index, network in enumerate(found)]


def _partition(pkey: str) -> int:
    """Return the number of a partition key.

    Raises:
        ValueError: It has more than 15 bits.
    """
    found = int(pkey, 16)
    if not 0 <= found <= _LAST_PKEY:
        msg = f"invalid pkey 0x{found:04X}, out of range 0x0001 - 0xFFFE"
        raise ValueError(msg)
    return found


def _is_finished(pod: Object) -> bool:
    return dig(pod, "status", "phase") in {"Succeeded", "Failed"}


def _say(view: View, pod: Object, reason: str = "", message: str = "") -> None:
    """Write on the pod of an ib-kubernetes what its kubelet says of the container: it runs, or waits for a reason."""
    [status, *others] = dig(pod, "status", "containerStatuses") or [{}]
    waits = dig(status, "state", "waiting", "reason") or ""
    if waits == reason:
        return
    is_ready = "False" if reason else "True"
    state: dict[str, Any] = {"waiting": {"reason": reason, "message": message}} if reason else {"running": {}}
    changed = [
        {**one, "status": is_ready} if one["type"] in {"Ready", "ContainersReady"} else one
        for one in dig(pod, "status", "conditions") or ()
    ]
    view.status(
        pod,
        {
            "conditions": changed,
            "containerStatuses": [{**status, "ready": not reason, "started": not reason, "state": state}, *others],
        },
    )
