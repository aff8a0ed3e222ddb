"""Simulated ib-kubernetes: assigns GUIDs to pods of a tenant's cluster, and registers them at the fabric manager (UFM).

One daemon runs for each pod of the management cluster with the image of ib-kubernetes, and uses the variables, Secrets
and kubeconfig of the pod's container. A daemon acts like Mellanox/ib-kubernetes:pkg/daemon/daemon.go, and uses the REST
calls of the region's UFM (`fabric_manager`). Scheduled pending pods with an InfiniBand network get the next GUIDs of
the range. UFM adds the GUIDs to the partition of the attachment; then the annotation of the pod is updated. A daemon
that cannot start ends; its kubelet reports this and restarts it. The simulated address from the platform refers to the
region's UFM.
"""

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
"""Delay before a daemon is restarted, like the first back-off of a kubelet."""
_LAST_PKEY = 0x7FFF

Hosted = Callable[[str], View | None]


class Ended(Exception):  # noqa: N818 - the last line of its log
    """An ib-kubernetes daemon cannot start; the message contains the reason."""


class Daemons:
    """All ib-kubernetes daemons of a region, by pod."""

    def __init__(self, manager: FabricManager) -> None:
        self._manager = manager
        self._running: dict[str, tuple[str, Daemon]] = {}
        """Cluster and daemon, by UID of the pod."""
        self._not_before: dict[str, float] = {}

    def reconcile(self, management: View, hosted: Hosted) -> None:
        """Start new daemons, run a round of each daemon, and remove daemons without a pod."""
        pods = {pod["metadata"]["uid"]: (pod, container) for pod, container in _pods(management)}
        self._running = {uid: running for uid, running in self._running.items() if uid in pods}
        for uid, (pod, container) in pods.items():
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
            environment = variables(management, pod, container)
            cluster = _cluster(pod, container, environment)
            view = hosted(cluster)
            if view is None:
                return
            self._running[uid] = (cluster, Daemon(environment, self._manager, view))
            _report(management, pod)
        except NotThere as reason:
            _report(management, pod, "CreateContainerConfigError", str(reason))
        except (Ended, FabricError) as reason:
            self._not_before[uid] = time.monotonic() + _AGAIN_SECONDS
            LOG.warning("%s: %s", pod["metadata"]["name"], reason)
            message = f"back-off {_AGAIN_SECONDS:g}s restarting failed container={container['name']}"
            _report(management, pod, "CrashLoopBackOff", message)


class Daemon:
    """One ib-kubernetes daemon, which reads its settings once, at the start, and each attachment once."""

    def __init__(self, environment: dict[str, str], manager: FabricManager, view: View) -> None:
        """Start like upstream: check plugin, login and range; read UFM's version, and the GUIDs of UFM and of pods.

        Raises:
            Ended: The daemon cannot start.
            FabricError: UFM does not respond or rejects the login.
        """
        if environment.get("DAEMON_SM_PLUGIN") != _PLUGIN:
            msg = f"failed to load plugin {environment.get('DAEMON_SM_PLUGIN')!r}"
            raise Ended(msg)
        self._client = FabricClient.from_variables(environment, manager)
        self._client.version()
        try:
            self._pool = GuidPool(environment["GUID_POOL_RANGE_START"], environment["GUID_POOL_RANGE_END"])
        except (KeyError, ValueError) as error:
            msg = f"no range of GUIDs: {error}"
            raise Ended(msg) from None
        self._attachments: dict[tuple[str, str], Object] = {}
        self._assigned: dict[str, tuple[int, str]] = {}
        """GUID and partition, by pod and network."""
        for pod in view.all("v1", "Pod"):
            for key, network in _named(pod):
                if network.is_configured and network.guid and not _is_finished(pod):
                    self._assigned[key] = (number(network.guid), str(network.arguments.get("pkey")))
        self._pool.reset(self._client.guids())

    def reconcile(self, view: View) -> None:
        """Assign GUIDs to pending pods, and release GUIDs of ended pods; failures are retried in the next round."""
        pods = list(view.all("v1", "Pod"))
        keys = {key for pod in pods if not _is_finished(pod) for key, _ in _named(pod)}
        for key in [key for key in self._assigned if key not in keys]:
            guid, pkey = self._assigned[key]
            try:
                self._client.remove(_partition(pkey), guid)
            except (FabricError, ValueError) as reason:
                LOG.warning("ib-kubernetes: GUID %s: %s", octets(guid), reason)
                continue
            self._pool.release(guid)
            del self._assigned[key]
        for pod in pods:
            if dig(pod, "status", "phase") == "Pending" and dig(pod, "spec", "nodeName") and not deleting(pod):
                self._give(view, pod)

    def _give(self, view: View, pod: Object) -> None:
        """Register a pod's InfiniBand networks at UFM and update the pod, or log the reason of a failure."""
        all_networks = _named(pod)
        unconfigured = [(key, network) for key, network in all_networks if not network.is_configured]
        waiting = [(key, network) for key, network in unconfigured if self._is_ours(view, network)]
        for key, network in waiting:
            pkey = configuration(self._attachments[network.identity])["pkey"]
            try:
                guid = self._guid(key, network, pkey)
                self._client.add(_partition(pkey), guid)
            except (FabricError, NoGuid, ValueError) as reason:
                LOG.warning("ib-kubernetes: pod %s: %s", pod["metadata"]["name"], reason)
                return
            name, value = CONFIGURED
            arguments = {"guid": octets(guid), **network.arguments, name: value, "pkey": pkey}
            network.entry.update({"namespace": network.namespace, "cni-args": arguments})
        if waiting:
            text = json.dumps([network.entry for _, network in all_networks])
            view.patch(pod, {"metadata": {"annotations": {NETWORKS: text}}})

    def _is_ours(self, view: View, network: Network) -> bool:
        """Return whether a network is an InfiniBand network; each attachment is read only once."""
        known = self._attachments.get(network.identity)
        attachment = known or view.find(*ATTACHMENT, network.name, network.namespace)
        if attachment is None:
            return False
        self._attachments[network.identity] = attachment
        return configuration(attachment).get("type") == INFINIBAND

    def _guid(self, key: str, network: Network, pkey: str) -> int:
        """Return the GUID for a network of a pod: the current, the requested, or the next free GUID."""
        if key in self._assigned:
            return self._assigned[key][0]
        if network.guid:
            guid = number(network.guid)
            self._pool.take(guid)
        else:
            try:
                guid = self._pool.give()
            except NoGuid:
                self._pool.reset(self._client.guids())
                raise
        self._assigned[key] = (guid, pkey)
        return guid


def _pods(management: View) -> Iterator[tuple[Object, Object]]:
    for pod in management.all("v1", "Pod"):
        if not deleting(pod) and dig(pod, "status", "phase") == "Running":
            for container in pod["spec"]["containers"]:
                if container["image"].partition("@")[0].endswith(_IMAGE):
                    yield pod, container


def _cluster(pod: Object, container: Object, environment: dict[str, str]) -> str:
    """Return the cluster of a container's kubeconfig."""
    secret = mounted_secret(pod, container, PurePosixPath(environment.get("KUBECONFIG", "")))
    if secret is None:
        msg = "unable to load in-cluster configuration"
        raise Ended(msg)
    return secret.removesuffix(_KUBECONFIG)


def _named(pod: Object) -> list[tuple[str, Network]]:
    """Return the networks of a pod, each with a unique key; none if the annotation is invalid."""
    try:
        entries = networks(pod)
    except (KeyError, TypeError, ValueError) as error:
        LOG.debug("ib-kubernetes: pod %s: %s", pod["metadata"]["name"], error)
        return []
    return [(f"{pod['metadata']['uid']}_{index}", network) for index, network in enumerate(entries)]


def _partition(pkey: str) -> int:
    """Return the number of a partition key.

    Raises:
        ValueError: The key has more than 15 bits.
    """
    key = int(pkey, 16)
    if not 0 <= key <= _LAST_PKEY:
        msg = f"invalid pkey 0x{key:04X}, out of range 0x0001 - 0xFFFE"
        raise ValueError(msg)
    return key


def _is_finished(pod: Object) -> bool:
    return dig(pod, "status", "phase") in {"Succeeded", "Failed"}


def _report(view: View, pod: Object, reason: str = "", message: str = "") -> None:
    """Write the container status of an ib-kubernetes pod like its kubelet: running, or waiting with a reason."""
    [status, *others] = dig(pod, "status", "containerStatuses") or [{}]
    waits = dig(status, "state", "waiting", "reason") or ""
    if waits == reason:
        return
    is_ready = "False" if reason else "True"
    state: dict[str, Any] = {"waiting": {"reason": reason, "message": message}} if reason else {"running": {}}
    changed = [
        {**condition, "status": is_ready} if condition["type"] in {"Ready", "ContainersReady"} else condition
        for condition in dig(pod, "status", "conditions") or ()
    ]
    view.status(
        pod,
        {
            "conditions": changed,
            "containerStatuses": [{**status, "ready": not reason, "started": not reason, "state": state}, *others],
        },
    )
