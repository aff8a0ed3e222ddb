"""Secrets that objects refer to, copied from a store by External Secrets Operator. Rendered objects contain no values.

A Secret of the management cluster is rendered as one ExternalSecret. A Secret inside a tenant's cluster is first copied
to the cluster's namespace, then pushed with the kubeconfig from Cluster API. A cluster administered by a tenant
therefore contains neither the operator nor credentials for the store.
"""

from collections.abc import Iterator
from typing import Any

from components.render import labels as keys
from components.render.manifest import MANAGEMENT, Manifest, ManifestSet
from components.render.objects import given, manifest
from components.specs.struct import Struct

API = "external-secrets.io/v1"
PUSH_API = "external-secrets.io/v1alpha1"
_INTERVAL = "1h"


class Delivery(Struct):
    """Secret that must exist in a namespace of a cluster."""

    cluster: str
    namespace: str
    name: str
    keys: tuple[str, ...]
    entry: str
    """Entry of the store. The properties of the entry and the keys of the Secret have the same names."""
    type: str | None = None
    """Type that the Secret must have; None for any type."""
    generated: str | None = None
    """Secret in the cluster's namespace that a controller creates, with these keys; None to copy it from the store."""


class ExternalSecretsInput(Struct):
    """Secrets that objects of one slice refer to."""

    name: str
    namespace: str
    """Namespace of the parent object of the set."""
    store: str
    """ClusterSecretStore of the management cluster."""
    deliveries: tuple[Delivery, ...]

    def render(self) -> tuple[ManifestSet, ...]:
        """Return all objects as a single set, so that an additional rack adds no Pulumi resource."""
        members = {
            f"{item.namespace}/{item.kind}/{item.name}": item for item in external_secrets(self.store, self.deliveries)
        }
        return (ManifestSet(name=f"secrets-{self.name}", namespace=self.namespace, members=members),)


def external_secrets(store: str, deliveries: tuple[Delivery, ...]) -> Iterator[Manifest]:
    """Yield the objects that copy each Secret from ``store``, in the order of ``deliveries``."""
    stores: set[tuple[str, str]] = set()
    for delivery in deliveries:
        if delivery.cluster == MANAGEMENT:
            yield _external_secret(store, delivery, delivery.namespace, delivery.name)
            continue
        if (delivery.cluster, delivery.namespace) not in stores:
            stores.add((delivery.cluster, delivery.namespace))
            yield _remote_store(delivery)
        if delivery.generated is None:
            yield _external_secret(store, delivery, delivery.cluster, _intermediate_name(delivery))
        yield _push_secret(delivery)


def _external_secret(store: str, delivery: Delivery, namespace: str, name: str) -> Manifest:
    return manifest(
        API,
        "ExternalSecret",
        name,
        namespace=namespace,
        spec={
            "secretStoreRef": {"kind": "ClusterSecretStore", "name": store},
            "refreshInterval": _INTERVAL,
            # Power-off of a deleted host needs its credentials, so a Secret outlives the objects that use it.
            "target": {
                "name": name,
                "creationPolicy": "Orphan",
                "deletionPolicy": "Retain",
                **given(template=given(type=delivery.type)),
            },
            "data": [
                {"secretKey": key, "remoteRef": {"key": delivery.entry, "property": key}} for key in delivery.keys
            ],
        },
    )


def _remote_store(delivery: Delivery) -> Manifest:
    """Return the SecretStore for a namespace of a tenant's cluster. The store has the name of the namespace."""
    kubeconfig = {"name": f"{delivery.cluster}-kubeconfig", "key": "value"}
    return manifest(
        API,
        "SecretStore",
        delivery.namespace,
        namespace=delivery.cluster,
        labels={keys.CLUSTER: delivery.cluster},
        spec={"provider": {"kubernetes": {"authRef": kubeconfig, "remoteNamespace": delivery.namespace}}},
    )


def _push_secret(delivery: Delivery) -> Manifest:
    def match(key: str) -> dict[str, Any]:
        return {"match": {"secretKey": key, "remoteRef": {"remoteKey": delivery.name, "property": key}}}

    return manifest(
        PUSH_API,
        "PushSecret",
        _intermediate_name(delivery),
        namespace=delivery.cluster,
        labels={keys.CLUSTER: delivery.cluster},
        spec={
            "secretStoreRefs": [{"kind": "SecretStore", "name": delivery.namespace}],
            "selector": {"secret": {"name": delivery.generated or _intermediate_name(delivery)}},
            "refreshInterval": _INTERVAL,
            "updatePolicy": "Replace",
            "deletionPolicy": "None",
            "data": [match(key) for key in delivery.keys],
        },
    )


def _intermediate_name(delivery: Delivery) -> str:
    """Return the name of the management cluster's copy of a Secret for a tenant's cluster."""
    return f"{delivery.namespace}-{delivery.name}"
