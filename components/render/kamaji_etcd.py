"""The etcd that one cluster has for itself under Kamaji, made by its chart: for everything, and perhaps for events.

Both trust one authority, since an API server has one client certificate for all its etcds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.render.control_plane import MANAGEMENT_DOMAIN, ControlPlane, spread
from components.render.etcd_backup import Etcd, render_backup
from components.render.manifest import Manifest
from components.render.monitors import pod_monitor
from components.render.objects import manifest
from components.render.operators import Operator, cluster_release
from components.render.sizing import Component, requests
from components.specs.region import DedicatedDataStoreSpec

CHART = "kamaji-etcd"
"""Chart that is needed where clusters may have a data store of their own."""
MAIN_STORE, EVENTS_STORE = "etcd", "events"
"""What is put behind a cluster's name to call its own data stores."""
_CLIENT_PORT = 2379


def main_store(control_plane: ControlPlane) -> str:
    """Return the data store of everything, or of everything but events."""
    return f"{control_plane.spec.name}-{MAIN_STORE}"


def events_store(control_plane: ControlPlane) -> str:
    """Return the data store of events, where they are apart."""
    return f"{control_plane.spec.name}-{EVENTS_STORE}"


def render(control_plane: ControlPlane, store: DedicatedDataStoreSpec) -> Iterator[Manifest]:
    """Yield the etcds of a cluster, with what watches and saves them.

    Events are not saved: nobody would want them back.
    """
    cluster, labels, main = control_plane.spec.name, control_plane.labels, main_store(control_plane)
    yield manifest("cert-manager.io/v1", "Issuer", main, namespace=cluster, labels=labels, spec={"selfSigned": {}})
    names = [main, events_store(control_plane)] if control_plane.events_apart else [main]
    for name in names:
        operator = _operator(control_plane, store, name)
        yield cluster_release(operator, cluster, protect=control_plane.protected)
    for name in names:
        yield pod_monitor(name, cluster, labels, _pods(name))
    if control_plane.backup is not None:
        yield render_backup(f"{main}-backup", cluster, labels, _reached(main, cluster), control_plane.backup)


def _operator(control_plane: ControlPlane, store: DedicatedDataStoreSpec, name: str) -> Operator:
    main = main_store(control_plane)
    return Operator(
        chart=CHART,
        name=name,
        namespace=control_plane.spec.name,
        values={
            "fullnameOverride": name,
            "replicas": store.members,
            "persistentVolumeClaim": {"size": store.size, "storageClassName": store.storage_class},
            "datastore": {"enabled": True, "name": name},
            "selfSignedCertificates": {"enabled": False},
            "certManager": {
                "enabled": True,
                "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": main},
                "ca": {"create": name == main, "nameOverride": f"{main}-ca"},
                "clientCert": {"nameOverride": f"{name}-client"},
            },
            "resources": requests(control_plane.nodes, Component.ETCD),
            "topologySpreadConstraints": spread(_pods(name)),
        },
    )


def _reached(name: str, cluster: str) -> Etcd:
    return Etcd(
        endpoint=f"https://{name}-client.{cluster}.{MANAGEMENT_DOMAIN}:{_CLIENT_PORT}",
        authority=(f"{name}-client", "ca.crt"),
        client=f"{name}-client",
    )


def _pods(name: str) -> dict[str, Any]:
    return {"app.kubernetes.io/instance": name}
