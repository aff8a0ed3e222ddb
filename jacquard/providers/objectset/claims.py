"""Determines which objects must not be deleted while in use, and which machines get another name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.kube.jsonpath import evaluate, parse
from jacquard.providers.objectset.inputs import Identity, ObjectSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Paths of an object's consumer, state and machine."""

    consumer: str
    """Path of the consumer's name."""
    state: str
    free: frozenset[str]
    """States in which the object is not in use. Any other state, including new states of later releases, may mean a
    running node."""
    machine: str
    """Path of a value that stays the same when the object is recreated under another name or namespace."""


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
"""Use of objects by group and kind. A host must be released and wiped before it can be removed, because its deletion
would power off a running node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependent:
    """A kind whose objects are deleted together with the object that they refer to."""

    api_version: str
    kind: str
    owner: str
    """Path of the owner's name."""

    def owner_of(self, body: Mapping[str, Any]) -> str:
        """Return the name of the object to which a dependent refers."""
        return _first(self.owner, body)


DEPENDENTS: Mapping[tuple[str, str], Dependent] = {
    ("metal.ironcore.dev", "BMC"): Dependent(
        api_version="metal.ironcore.dev/v1alpha1", kind="Server", owner=".spec.bmcRef.name"
    ),
}
"""Kinds whose objects are deleted with their owner, by group and kind of the owner; both are cluster-scoped."""


def claimed(body: Mapping[str, Any]) -> str | None:
    """Return the reason why a live object must not be deleted, with the remedy; None if it is not in use."""
    use = _use(body)
    if use is None:
        return None
    consumer, state = _first(use.consumer, body), _first(use.state, body)
    if consumer:
        return f"is claimed by {consumer}; release and wipe it first"
    if not state:
        return (
            f"is in an unknown state ({use.state[1:]} is empty); "
            "wait until its controller reports a state, or delete it manually"
        )
    return None if state in use.free else f"is {state}; release and wipe it first"


def machine(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the marks that identify an object's machine under another name or namespace; empty for other kinds."""
    use = _use(body)
    if use is None:
        return frozenset()
    marks = (str(body["metadata"]["name"]), _first(use.machine, body).lower())
    return frozenset(mark for mark in marks if mark)


def _use(body: Mapping[str, Any]) -> Use | None:
    return USES.get((str(body["apiVersion"]).rpartition("/")[0], str(body["kind"])))


def _first(path: str, body: Mapping[str, Any]) -> str:
    values = evaluate(parse(path), body)
    return str(values[0]) if values and values[0] else ""


@dataclass(frozen=True, slots=True)
class Move:
    """A machine under two identities."""

    old: Identity
    new: Identity

    def refusal(self, home: str, reason: str | None) -> str | None:
        """Return the reason why the move is not permitted, with the remedy; None for a permitted move.

        Args:
            home: The set's own namespace, which contains the hosts without an owner.
            reason: Reason why the old object must not be deleted, None if it is not in use.
        """
        target = f"and would become {self.new}"
        if reason:
            return f"{self.old} {reason}, {target}; a host can only change its namespace while it is not in use"
        if self.old.namespace == self.new.namespace or home in (self.old.namespace, self.new.namespace):
            return None
        return (
            f"{self.old} would become {self.new}: a host changes its owner in two changes; "
            f"release it to namespace {home} in this change, so that it is wiped, and claim it in the next change"
        )


def moves(
    owner: ObjectSet, leaving: Iterable[Mapping[str, Any]], coming: Iterable[Mapping[str, Any]]
) -> Iterator[Move]:
    """Yield the machines of ``leaving`` objects that are also in ``coming`` objects.

    The old object must be deleted before the new one is created: two objects of one machine would both control its BMC.
    A host can only change its owner in two steps: it is released into the set's own namespace, which wipes it, and a
    second change claims it from there.
    """
    known = {(body["kind"], mark): owner.identity(body) for body in coming for mark in machine(body)}
    for body in leaving:
        targets = {known[body["kind"], mark] for mark in machine(body) if (body["kind"], mark) in known}
        yield from (Move(owner.identity(body), target) for target in sorted(targets))
