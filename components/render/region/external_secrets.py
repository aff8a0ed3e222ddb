"""Secrets that objects refer to, copied from a store by External Secrets Operator; no value is in an object.

A Secret of the management cluster is one ExternalSecret. A Secret inside a tenant's cluster is copied to the cluster's
namespace first and pushed from there, by the kubeconfig that Cluster API keeps: so no operator, and no login to the
store, is in a cluster that a tenant administers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import MANAGEMENT, Manifest, ManifestSet
from components.render.objects import given, manifest

API = "external-secrets.io/v1"
PUSH_API = "external-secrets.io/v1alpha1"
_INTERVAL = "1h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A Secret that somebody has to put somewhere."""

    cluster: str
    namespace: str
    name: str
    keys: tuple[str, ...]
    entry: str
    """Entry of the store; its properties are called like the keys."""
    type: str | None = None
    """Type that the Secret must have; None for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSecretsInput:
    """The Secrets that the objects of one slice refer to."""

    name: str
    namespace: str
    """Namespace in which the set of them is kept track of."""
    store: str
    """ClusterSecretStore of the management cluster."""
    deliveries: tuple[Delivery, ...]

    def render(self) -> tuple[ManifestSet, ...]:
        """Return all of them as one set: a rack more is no resource more."""
        members = {
            f"{item.namespace}/{item.kind}/{item.name}": item for item in external_secrets(self.store, self.deliveries)
        }
        return (ManifestSet(name=f"secrets-{self.name}", namespace=self.namespace, members=members),)


def external_secrets(store: str, deliveries: tuple[Delivery, ...]) -> Iterator[Manifest]:
    """Yield what copies each Secret from ``store``, in the order of ``deliveries``."""
    stores: set[tuple[str, str]] = set()
    for one in deliveries:
        if one.cluster == MANAGEMENT:
            yield _copied(store, one, one.namespace, one.name)
            continue
        if (one.cluster, one.namespace) not in stores:
            stores.add((one.cluster, one.namespace))
            yield _inside(one)
        yield _copied(store, one, one.cluster, _on_the_way(one))
        yield _pushed(one)


def _copied(store: str, one: Delivery, namespace: str, name: str) -> Manifest:
    return manifest(
        API,
        "ExternalSecret",
        name,
        namespace=namespace,
        spec={
            "secretStoreRef": {"kind": "ClusterSecretStore", "name": store},
            "refreshInterval": _INTERVAL,
            # A host that goes is powered off by the login that came with it: the Secret outlives what asked for it.
            "target": {
                "name": name,
                "creationPolicy": "Orphan",
                "deletionPolicy": "Retain",
                **given(template=given(type=one.type)),
            },
            "data": [{"secretKey": key, "remoteRef": {"key": one.entry, "property": key}} for key in one.keys],
        },
    )


def _inside(one: Delivery) -> Manifest:
    """Return the store that is a namespace of a tenant's cluster, called like that namespace."""
    reached = {"name": f"{one.cluster}-kubeconfig", "key": "value"}
    return manifest(
        API,
        "SecretStore",
        one.namespace,
        namespace=one.cluster,
        labels={keys.CLUSTER: one.cluster},
        spec={"provider": {"kubernetes": {"authRef": reached, "remoteNamespace": one.namespace}}},
    )


def _pushed(one: Delivery) -> Manifest:
    def match(key: str) -> dict[str, Any]:
        return {"match": {"secretKey": key, "remoteRef": {"remoteKey": one.name, "property": key}}}

    return manifest(
        PUSH_API,
        "PushSecret",
        _on_the_way(one),
        namespace=one.cluster,
        labels={keys.CLUSTER: one.cluster},
        spec={
            "secretStoreRefs": [{"kind": "SecretStore", "name": one.namespace}],
            "selector": {"secret": {"name": _on_the_way(one)}},
            "refreshInterval": _INTERVAL,
            "updatePolicy": "Replace",
            "deletionPolicy": "None",
            "data": [match(key) for key in one.keys],
        },
    )


def _on_the_way(one: Delivery) -> str:
    """Return what a Secret of a tenant's cluster is called in the management cluster."""
    return f"{one.namespace}-{one.name}"
