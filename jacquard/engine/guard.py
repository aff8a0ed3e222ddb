"""Which losses that a plan brings need a person's word first.

An object whose declaration did not change is never deleted or replaced without one, whatever the engine makes of it;
and an object of a guarded kind is not, unless the data itself is the word: what it belonged to has left the data, which
`jacquard check` lets happen only after it was retired. A group of nodes must have been applied without any.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from components.lookups.effects.changes import kind_of
from components.lookups.effects.table import effects_table
from components.render import labels
from components.render.manifest import MANAGEMENT, Manifest
from components.render.network.dpu_services import UNASSIGNED
from components.specs.environment import Environment
from components.specs.reading.problems import listed
from jacquard.engine.plan import Json, Loss, Plan

_DIGEST_LENGTH = 12
_GROUP = "cluster.x-k8s.io/MachineDeployment"
_NETWORKS = frozenset(
    {
        "kubeovn.io/Subnet",
        "kubeovn.io/Vpc",
        "networking.k8s.io/NetworkPolicy",
        "svc.dpu.nvidia.com/DPUDeployment",
        "vpc.dpu.nvidia.com/DPUVPC",
        "vpc.dpu.nvidia.com/DPUVirtualNetwork",
    }
)
"""Kinds whose objects are called like the VPC that they are, or like it and more behind a hyphen."""


_RELEASE, _KUSTOMIZATION = "helm.toolkit.fluxcd.io/HelmRelease", "kustomize.toolkit.fluxcd.io/Kustomization"
_OTHER_DELIVERY = {_RELEASE: _KUSTOMIZATION, _KUSTOMIZATION: _RELEASE}
"""Kinds by which Flux brings the same operator. When one goes, it takes all that it brought, unless it is suspended."""


class Reason(StrEnum):
    """Why a loss needs a word."""

    UNCHANGED = "nobody changed what is declared of it"
    RENAMED = "it is still declared, by a resource of another name"
    GUARDED = "its kind is guarded"
    TAKEN_OVER = "it would take away what another delivery of its name brings"
    IN_USE = "it is in use"
    UNSEEN = "nobody could look who uses it"


Users: TypeAlias = Callable[[Loss], tuple[str, ...] | None]
"""Returns who uses an object, without what the plan itself moves or takes away; None where nobody could look."""
MOST_NAMED = 5
"""Most users that a text names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An object that a plan would delete or replace, and that is held until somebody says so."""

    loss: Loss
    reason: Reason
    users: tuple[str, ...] = ()
    """Who uses it, if that is the reason."""

    @property
    def operation(self) -> str:
        """Return what would be done to it."""
        return "replace" if self.loss.replaced else "delete"

    def __str__(self) -> str:
        """Return a line for a person: what would happen to which object, what forces it, and why it is held."""
        forced = f", forced by {', '.join(self.loss.forced_by)}" if self.loss.forced_by else ""
        users = f" by {len(self.users)}: {listed(self.users, MOST_NAMED)}" if self.users else ""
        return f"{self.operation} {self.loss}{forced}: {self.reason}{users}"


def _nobody(_: Loss) -> tuple[str, ...]:
    return ()


def held(plan: Plan, environment: Environment, users: Users = _nobody) -> list[Held]:
    """Return the losses of ``plan`` that need a word, in order of kind and name.

    Args:
        plan: of one stack.
        environment: what the stack is to be.
        users: tells who uses what would go; asked of objects whose cluster stays.
    """
    owners = frozenset(_owners(environment))
    found = (_judged(loss, plan, owners) or _used(loss, owners, users) for loss in plan.losses.values())
    return sorted((one for one in found if one), key=lambda one: (str(one.loss), one.loss.urn.text))


def digest(stack: str, found: Sequence[Held]) -> str:
    """Return the word that lets exactly these losses of ``stack`` pass: another object or cause has another one."""
    named = [[one.operation, one.loss.urn.text, *one.loss.forced_by, one.reason, *one.users] for one in found]
    text = json.dumps([stack, sorted(named)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def _judged(loss: Loss, plan: Plan, owners: frozenset[str]) -> Held | None:
    if loss.replaced and not loss.changed:
        return Held(loss=loss, reason=Reason.UNCHANGED)
    if not loss.replaced and loss.identity in plan.declared:
        return Held(loss=loss, reason=Reason.RENAMED)
    if not loss.replaced and _is_taken_over(loss, plan):
        return Held(loss=loss, reason=Reason.TAKEN_OVER)
    if _kind(loss.recorded) in effects_table().guarded and (loss.replaced or not _has_ended(loss, owners)):
        return Held(loss=loss, reason=Reason.GUARDED)
    return None


def _used(loss: Loss, owners: frozenset[str], users: Users) -> Held | None:
    """Return that an object is held because of who uses it; one that comes anew under its name serves them on."""
    if loss.replaced or loss.cluster not in owners or (found := users(loss)) == ():
        return None
    return Held(loss=loss, reason=Reason.UNSEEN if found is None else Reason.IN_USE, users=found or ())


def _kind(recorded: Json) -> str:
    return kind_of(Manifest(body=recorded)) if recorded.keys() >= {"apiVersion", "kind"} else ""


def _is_taken_over(loss: Loss, plan: Plan) -> bool:
    """Tell whether what a delivery brought is brought by another one now, while the former one is not at rest."""
    group, _, kind = _OTHER_DELIVERY.get(_kind(loss.recorded), "").partition("/")
    if loss.identity is None or (loss.recorded.get("spec") or {}).get("suspend") is True:
        return False
    provider, _, _, *place = loss.identity
    return (provider, group, kind, *place) in plan.declared


def _has_ended(loss: Loss, owners: frozenset[str]) -> bool:
    """Tell whether the data says that an object goes: nothing runs in it, or what it belonged to has left the data."""
    kind, metadata = _kind(loss.recorded), loss.recorded.get("metadata") or {}
    if kind == _GROUP:  # its pool may have left the data before an `up` has emptied it
        return (loss.recorded.get("spec") or {}).get("replicas") == 0
    if kind in _NETWORKS and not _is_of_a_network(str(metadata.get("name")), owners):
        return True
    marks = metadata.get("labels") or {}
    named = [str(marks[key]) for key in (labels.TENANT, labels.CLUSTER, labels.POOL) if marks.get(key)]
    return loss.cluster not in owners or (bool(named) and "/".join(named) not in owners)


def _owners(environment: Environment) -> Iterator[str]:
    """Yield what objects are in or belong to: clusters, VPCs, and paths such as ``tenant/cluster/pool``."""
    yield MANAGEMENT
    yield _network(UNASSIGNED)
    for tenant in environment.tenants:
        yield tenant.tenant
        yield from (_network(vpc.name) for vpc in tenant.vpcs)
        for cluster in tenant.clusters:
            yield cluster.name
            yield f"{tenant.tenant}/{cluster.name}"
            yield from (f"{tenant.tenant}/{cluster.name}/{pool.name}" for pool in cluster.pools)


def _is_of_a_network(name: str, owners: frozenset[str]) -> bool:
    """Tell whether an object of this name is, or is part of, a VPC of the data: ``acme``, ``acme-west``."""
    parts = name.split("-")
    return any(_network("-".join(parts[:count])) in owners for count in range(1, len(parts) + 1))


def _network(vpc: str) -> str:
    return f"vpc {vpc}"
