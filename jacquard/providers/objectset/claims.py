"""When an object must not be deleted because somebody uses it, or may use it: a table, one row a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.kube.jsonpath import evaluate, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Paths at which an object says who uses it, and which machine it is."""

    consumer: str
    """Path of the name of whoever claims the object."""
    state: str
    free: frozenset[str]
    """States in which nobody uses the object. Any other one, a new word of a later release too, may mean a running
    node."""
    machine: str
    """Path of what stays the same when the object gets another name or namespace."""


USES: Mapping[tuple[str, str], Use] = {
    ("metal3.io", "BareMetalHost"): Use(
        consumer=".spec.consumerRef.name",
        state=".status.provisioning.state",
        free=frozenset(
            {
                "unmanaged",
                "registering",
                "match profile",
                "inspecting",
                "preparing",
                "ready",
                "available",
                "powering off before delete",
                "deleting",
            }
        ),
        machine=".spec.bootMACAddress",
    ),
    ("metal.ironcore.dev", "Server"): Use(
        consumer=".spec.serverClaimRef.name",
        state=".status.state",
        free=frozenset({"Initial", "Discovery", "Available"}),
        machine=".spec.systemUUID",
    ),
}
"""How an object says who uses it, by group and kind. A host is released and wiped before it may leave, since deleting
it would power off a running node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependent:
    """A kind whose objects go with the object that they refer to."""

    api_version: str
    kind: str
    owner: str
    """Path of the owner's name."""

    def owner_of(self, body: Mapping[str, Any]) -> str:
        """Return the name of the object that a dependent refers to."""
        return _first(self.owner, body)


DEPENDENTS: Mapping[tuple[str, str], Dependent] = {
    ("metal.ironcore.dev", "BMC"): Dependent(
        api_version="metal.ironcore.dev/v1alpha1", kind="Server", owner=".spec.bmcRef.name"
    ),
}
"""Kinds whose objects go with their owner, by group and kind of the owner; both are cluster-scoped."""


def claimed(body: Mapping[str, Any]) -> str | None:
    """Return why a live object must not be deleted, with the remedy; None when nobody uses it."""
    use = _use(body)
    if use is None:
        return None
    consumer, state = _first(use.consumer, body), _first(use.state, body)
    if consumer:
        return f"is claimed by {consumer}; release and wipe it first"
    if not state:
        return (
            f"is in a state that is not known ({use.state[1:]} is empty); "
            "wait until its controller reports one, or delete it by hand"
        )
    return None if state in use.free else f"is {state}; release and wipe it first"


def machine(body: Mapping[str, Any]) -> frozenset[str]:
    """Return by what an object's machine is known again under another name or namespace; nothing for other kinds."""
    use = _use(body)
    if use is None:
        return frozenset()
    marks = (str(body["metadata"]["name"]), _first(use.machine, body).lower())
    return frozenset(mark for mark in marks if mark)


def _use(body: Mapping[str, Any]) -> Use | None:
    return USES.get((str(body["apiVersion"]).rpartition("/")[0], str(body["kind"])))


def _first(path: str, body: Mapping[str, Any]) -> str:
    found = evaluate(parse(path), body)
    return str(found[0]) if found and found[0] else ""
