"""Etcds for control planes by Kamaji, installed with a chart: shared by clusters, or dedicated to one cluster.

A cluster with a separate store for events has two etcds. Both trust the same CA, since an API server has a single
client certificate for all its etcds.

The CA keeps its key when cert-manager renews it; by default it would get another one (CERT:internal/controller/feature/
features.go DefaultPrivateKeyRotationPolicyAlways). Members read the certificate of the CA only at their start
(ETCD:client/pkg/transport/listener.go ServerConfig), and Kamaji signs the client certificates of API servers again as
soon as the CA has changed (KAMAJI:internal/resources/datastore/datastore_certificate.go). With the same key, members
accept these certificates until they are started next.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from components.render.control_planes.control_plane import MANAGEMENT_DOMAIN, ControlPlane, spread
from components.render.control_planes.etcd_alerts import etcd_alerts
from components.render.control_planes.etcd_client import Etcd
from components.render.control_planes.etcd_restore import Restore, render_restore
from components.render.control_planes.etcd_upkeep import MadeEtcd, render_upkeep
from components.render.control_planes.sizing import Component, resources
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.budgets import quorum_budget
from components.render.region.monitors import pod_monitor, prometheus_rule
from components.render.region.operators import Operator, cluster_release
from components.specs.region.thresholds import Thresholds
from components.specs.struct import Struct, replace

CHART = "kamaji-etcd"
"""Chart that installs the etcd of a data store."""
NAMESPACE = "data-stores"
"""Namespace of shared etcds; dedicated etcds are in the namespace of their cluster."""
MAIN_STORE, EVENTS_STORE = "etcd", "events"
"""Suffixes of the names of a cluster's dedicated data stores."""
_CLIENT_PORT, _PEER_PORT = 2379, 2380
STOPPED = {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"replicas": 0}}
"""Fields of the StatefulSet of stopped members. The chart's value ``replicas`` is unchanged, since it is also the
number of endpoints of the DataStore, which has at least one, and of names in certificates."""


class SharedDataStore(Struct):
    """Data store that is shared by several clusters."""

    name: str
    etcd: MadeEtcd
    nodes: int
    """Maximum number of nodes of its clusters."""


class _EtcdRelease(Struct):
    """Etcd that the chart installs."""

    name: str
    """Name of the release and of all objects of the chart."""
    data_store: str
    """Name of the etcd's DataStore in Kamaji."""
    namespace: str
    labels: dict[str, str]
    authority: str
    """Name of the etcd that provides the trusted certificate authority: this etcd, or the main etcd of the cluster."""
    etcd: MadeEtcd
    nodes: int
    """Maximum number of nodes of its clusters."""
    folder: str
    """Folder for snapshots in the bucket."""
    protect: bool


def etcd_name(owner: str) -> str:
    """Return the name of the etcd of ``owner``, a shared data store or a cluster."""
    return f"{owner}-{MAIN_STORE}"


def main_store(control_plane: ControlPlane) -> str:
    """Return the name of the data store for all objects, except separate events."""
    return etcd_name(control_plane.spec.name)


def events_store(control_plane: ControlPlane) -> str:
    """Return the name of the data store for separate events."""
    return f"{control_plane.spec.name}-{EVENTS_STORE}"


def render(control_plane: ControlPlane, etcd: MadeEtcd) -> Iterator[Manifest]:
    """Yield the dedicated etcds of a cluster with their monitoring and backup.

    The etcd for events has no backup, since restored events are useless.
    """
    cluster, name = control_plane.spec.name, main_store(control_plane)
    main = _EtcdRelease(
        name=name,
        data_store=name,
        namespace=cluster,
        labels=control_plane.labels,
        authority=name,
        etcd=etcd,
        nodes=control_plane.nodes,
        folder=cluster,
        protect=control_plane.protected,
    )
    yield from _etcd(main, cluster)
    if control_plane.events_apart:
        unsaved = replace(etcd, upkeep=replace(etcd.upkeep, backup=None), restore=None)
        name = events_store(control_plane)
        yield from _etcd(replace(main, name=name, data_store=name, etcd=unsaved), cluster)


def endpoints(name: str, members: int) -> tuple[str, ...]:
    """Return the endpoints of the members of shared data store ``name``, as listed in the DataStore."""
    etcd = etcd_name(name)
    return tuple(f"{etcd}-{index}.{etcd}.{NAMESPACE}.{MANAGEMENT_DOMAIN}:{_CLIENT_PORT}" for index in range(members))


def render_shared(store: SharedDataStore) -> Iterator[Manifest]:
    """Yield the etcd of a shared data store with its monitor and backup.

    The names of the objects have a suffix to the name of the data store, because a release named ``default`` would take
    over the ServiceAccount ``default`` of the namespace.
    """
    name = etcd_name(store.name)
    release = _EtcdRelease(
        name=name,
        data_store=store.name,
        namespace=NAMESPACE,
        labels={},
        authority=name,
        etcd=store.etcd,
        nodes=store.nodes,
        folder=f"{NAMESPACE}/{store.name}",
        protect=True,
    )
    yield from _etcd(release, store.name)


def shared_rules(stores: Iterable[object], thresholds: Thresholds) -> Iterator[Manifest]:
    """Yield the alerts of the shared data stores among ``stores`` as one object; nothing without one."""
    alerts = [
        {**entry, "labels": {**entry["labels"], "cluster": store.name}}
        for store in stores
        if isinstance(store, SharedDataStore)
        for entry in etcd_alerts(store.name, (NAMESPACE, etcd_name(store.name)), store.etcd, thresholds)
    ]
    if alerts:
        yield prometheus_rule("data-stores", "data-store", alerts, {}, namespace=NAMESPACE, labels={})


def _etcd(release: _EtcdRelease, cluster_label: str) -> Iterator[Manifest]:
    """Yield the objects of one etcd. The label ``cluster`` of its metrics has the value ``cluster_label``."""
    name = release.name
    place: dict[str, Any] = {"namespace": release.namespace, "labels": release.labels}
    if release.authority == name:
        yield manifest("cert-manager.io/v1", "Issuer", name, **place, spec={"selfSigned": {}})
    chart = cluster_release(_operator(release), release.namespace, protect=release.protect)
    # Objects are applied in this order: members stop before the Jobs, and start after them.
    yield from (chart, *_restore(release)) if release.etcd.is_stopped else (*_restore(release), chart)
    yield pod_monitor(name, cluster_label, _pods(name), **place)
    yield from quorum_budget(name, _pods(name), release.etcd.spec.members, **place)
    etcd = _client(name, release.namespace)
    yield from render_upkeep(
        name,
        release.namespace,
        release.labels,
        etcd,
        release.etcd,
        folder=release.folder,
        nodes=release.nodes,
    )


def _restore(release: _EtcdRelease) -> Iterator[Manifest]:
    """Yield the Jobs of a restore that is not done."""
    name, etcd = release.name, release.etcd
    backup, restore = etcd.upkeep.backup, etcd.restore
    if backup is None or restore is None or not restore.is_open:
        return
    members = [f"{name}-{index}" for index in range(etcd.spec.members)]
    domain = f"{name}.{release.namespace}.{MANAGEMENT_DOMAIN}"
    made = Restore(
        snapshot=restore.snapshot,
        location=backup.location(release.folder, second=restore.from_second_bucket),
        backup=backup,
        peers={member: f"https://{member}.{domain}:{_PEER_PORT}" for member in members},
        claims={member: f"data-{member}" for member in members},
    )
    yield from render_restore(name, release.namespace, release.labels, made)


def _operator(release: _EtcdRelease) -> Operator:
    name, spec = release.name, release.etcd.spec
    return Operator(
        chart=CHART,
        name=name,
        namespace=release.namespace,
        values={
            "fullnameOverride": name,
            "replicas": spec.members,
            "persistentVolumeClaim": {"size": spec.size, "storageClassName": spec.storage_class},
            "datastore": {"enabled": True, "name": release.data_store},
            "selfSignedCertificates": {"enabled": False},
            "certManager": {
                "enabled": True,
                "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": release.authority},
                "ca": {"create": name == release.authority, "nameOverride": _authority(release.authority)},
                "clientCert": {"nameOverride": f"{name}-client"},
            },
            "resources": resources(release.nodes, Component.ETCD),
            "topologySpreadConstraints": spread(_pods(name), spec.members, release.etcd.hosts),
        },
        merged=tuple(_merged(release)),
        # The chart's jobs use a separate ServiceAccount; members would mount the token of ``default``.
        tokenless=("StatefulSet",),
    )


def _merged(release: _EtcdRelease) -> Iterator[dict[str, Any]]:
    """Yield the fields of the chart's objects without a value."""
    if release.authority == release.name:
        yield {
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": _authority(release.name)},
            "spec": {"privateKey": {"rotationPolicy": "Never"}},
        }
    if release.etcd.is_stopped:
        yield STOPPED


def _authority(name: str) -> str:
    """Return the name of the CA of the etcd ``name``: of its Certificate, Secret and Issuer."""
    return f"{name}-ca"


def _client(name: str, namespace: str) -> Etcd:
    return Etcd(
        endpoint=f"https://{name}-client.{namespace}.{MANAGEMENT_DOMAIN}:{_CLIENT_PORT}",
        authority=(f"{name}-client", "ca.crt"),
        client=f"{name}-client",
    )


def _pods(name: str) -> dict[str, Any]:
    return {"app.kubernetes.io/instance": name}
