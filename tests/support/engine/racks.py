"""A rack as a program passes it to the provider of object sets, with host fields of the test."""

from __future__ import annotations

from typing import Any


def host(name: str, namespace: str = "inventory", **spec: Any) -> dict[str, Any]:
    """Return a host with these fields."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": metadata, "spec": spec}


def rack(*names: str, **spec: Any) -> dict[str, Any]:
    """Return the inputs of a set of hosts that all have these fields."""
    members = {name: host(name, **spec) for name in names}
    return {"setName": "rack-a01", "namespace": "inventory", "members": members}
