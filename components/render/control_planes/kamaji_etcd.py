"""Etcds that Kamaji keeps control planes in, made by their chart: one that clusters share, or one cluster's own.

A cluster with events apart has two, which trust one authority, since an API server has one client certificate for all
its etcds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from components.render.control_planes.control_plane import MANAGEMENT_DOMAIN, ControlPlane, spread
from components.render.control_planes.etcd_client import Etcd
from components.render.control_planes.etcd_upkeep import MadeEtcd, render_upkeep
from components.render.control_planes.sizing import Component, resources
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.budgets import quorum_budget
from components.render.region.monitors import etcd_rules, pod_monitor
from components.render.region.operators import Operator, cluster_release

CHART = "kamaji-etcd"
"""Chart that is needed where a data store is made."""
NAMESPACE = "data-stores"
"""Namespace of the etcds that clusters share; those of one cluster are in its own."""
MAIN_STORE, EVENTS_STORE = "etcd", "events"
"""What is put behind a cluster's name to call its own data stores."""
_CLIENT_PORT = 2379


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDataStore:
    """A data store that several clusters share."""

    name: str
    etcd: MadeEtcd
    nodes: int
    """Most nodes of its clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """An etcd that the chart makes."""

    name: str
    """Name of the release, and of all that the chart makes."""
    data_store: str
    """Name by which Kamaji knows it."""
    namespace: str
    labels: dict[str, str]
    authority: str
    """Name of the etcd whose certificate authority it trusts: its own, or the one beside it."""
    etcd: MadeEtcd
    nodes: int
    """Most nodes of its clusters."""
    folder: str
    """Folder of the bucket that its snapshots are copied to."""
    protect: bool


def main_store(control_plane: ControlPlane) -> str:
    """Return the data store of everything, or of everything but events."""
    return f"{control_plane.spec.name}-{MAIN_STORE}"


def events_store(control_plane: ControlPlane) -> str:
    """Return the data store of events, where they are apart."""
    return f"{control_plane.spec.name}-{EVENTS_STORE}"


def render(control_plane: ControlPlane, etcd: MadeEtcd) -> Iterator[Manifest]:
    """Yield the etcds of a cluster, with what watches and saves them.

    Events are not saved: nobody would want them back.
    """
    cluster, name = control_plane.spec.name, main_store(control_plane)
    main = _Made(
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
        name, unsaved = events_store(control_plane), replace(etcd, upkeep=replace(etcd.upkeep, backup=None))
        yield from _etcd(replace(main, name=name, data_store=name, etcd=unsaved), cluster)


def endpoints(name: str, members: int) -> tuple[str, ...]:
    """Return where the members of the shared data store ``name`` answer, as its DataStore says."""
    etcd = f"{name}-{MAIN_STORE}"
    return tuple(f"{etcd}-{one}.{etcd}.{NAMESPACE}.{MANAGEMENT_DOMAIN}:{_CLIENT_PORT}" for one in range(members))


def render_shared(store: SharedDataStore) -> Iterator[Manifest]:
    """Yield the etcd of a data store that clusters share, with what watches and saves it.

    Its objects are called otherwise than the data store: a chart that is called ``default`` would take the namespace's
    own service account.
    """
    name = f"{store.name}-{MAIN_STORE}"
    made = _Made(
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
    yield from _etcd(made, store.name)
    yield etcd_rules(name, NAMESPACE, store.name)


def _etcd(made: _Made, watched_as: str) -> Iterator[Manifest]:
    """Yield one etcd, whose series say that they are of the cluster ``watched_as``."""
    name = made.name
    place: dict[str, Any] = {"namespace": made.namespace, "labels": made.labels}
    if made.authority == name:
        yield manifest("cert-manager.io/v1", "Issuer", name, **place, spec={"selfSigned": {}})
    yield cluster_release(_operator(made), made.namespace, protect=made.protect)
    yield pod_monitor(name, watched_as, _pods(name), **place)
    yield from quorum_budget(name, _pods(name), made.etcd.spec.members, **place)
    etcd = _reached(name, made.namespace)
    yield from render_upkeep(name, made.namespace, made.labels, etcd, made.etcd.upkeep, folder=made.folder)


def _operator(made: _Made) -> Operator:
    name, spec = made.name, made.etcd.spec
    return Operator(
        chart=CHART,
        name=name,
        namespace=made.namespace,
        values={
            "fullnameOverride": name,
            "replicas": spec.members,
            "persistentVolumeClaim": {"size": spec.size, "storageClassName": spec.storage_class},
            "datastore": {"enabled": True, "name": made.data_store},
            "selfSignedCertificates": {"enabled": False},
            "certManager": {
                "enabled": True,
                "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": made.authority},
                "ca": {"create": name == made.authority, "nameOverride": f"{made.authority}-ca"},
                "clientCert": {"nameOverride": f"{name}-client"},
            },
            "resources": resources(made.nodes, Component.ETCD),
            "topologySpreadConstraints": spread(_pods(name), spec.members, made.etcd.hosts),
        },
        # Its jobs ask the API as an account of the chart's own; members would have the token of ``default``.
        tokenless=("StatefulSet",),
    )


def _reached(name: str, namespace: str) -> Etcd:
    return Etcd(
        endpoint=f"https://{name}-client.{namespace}.{MANAGEMENT_DOMAIN}:{_CLIENT_PORT}",
        authority=(f"{name}-client", "ca.crt"),
        client=f"{name}-client",
    )


def _pods(name: str) -> dict[str, Any]:
    return {"app.kubernetes.io/instance": name}
