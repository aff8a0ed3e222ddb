"""Finds destructive changes of a plan that need confirmation.

An object whose declaration did not change is never deleted or replaced without confirmation, even if the engine plans
it. An object of a guarded kind needs confirmation too, unless its owner was removed from the data, which `jacquard
check` allows only after retirement. A node group can be deleted after an apply with zero replicas. A storage class is
recreated only with confirmation: a newer library can have another default, and existing volumes keep their parameters.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

from components.lookups.effects.changes import kind_of
from components.lookups.effects.table import effects_table
from components.render import labels
from components.render.manifest import MANAGEMENT, Manifest
from components.render.network.dpu_services import UNASSIGNED
from components.specs.environment import Environment
from components.specs.reading.problems import listed
from components.specs.struct import Struct
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
"""Kinds whose objects have the name of their VPC, or this name followed by a hyphen and a suffix."""


_RELEASE, _KUSTOMIZATION = "helm.toolkit.fluxcd.io/HelmRelease", "kustomize.toolkit.fluxcd.io/Kustomization"
_OTHER_DELIVERY = {_RELEASE: _KUSTOMIZATION, _KUSTOMIZATION: _RELEASE}
"""Kinds by which Flux can install the same operator. Deleting such an object uninstalls the operator, unless the object
is suspended."""


class Reason(StrEnum):
    """Reason why a destructive change needs confirmation."""

    UNCHANGED = "its declaration did not change"
    RENAMED = "it is still declared, by a resource of another name"
    GUARDED = "its kind is guarded"
    RECREATED = "existing volumes keep the old parameters"
    TAKEN_OVER = "its deletion would uninstall objects that another delivery of its name installs"
    IN_USE = "it is in use"
    UNSEEN = "its users could not be determined"


Users: TypeAlias = Callable[[Loss], tuple[str, ...] | None]
"""Function that returns the users of an object, except users that the plan itself moves or deletes; None if unknown."""
MOST_NAMED = 5
"""Maximum number of users listed in a text."""


class Held(Struct):
    """An object that a plan would delete or replace; the change is blocked until it is confirmed."""

    loss: Loss
    reason: Reason
    users: tuple[str, ...] = ()
    """Users of the object, if the users are the reason for the block."""

    @property
    def operation(self) -> str:
        """Return the planned operation."""
        return "replace" if self.loss.replaced else "delete"

    def __str__(self) -> str:
        """Return a line with the operation, the object, the properties that force it, and the reason for the block."""
        forced = f", forced by {', '.join(self.loss.forced_by)}" if self.loss.forced_by else ""
        users = f" by {len(self.users)}: {listed(self.users, MOST_NAMED)}" if self.users else ""
        return f"{self.operation} {self.loss}{forced}: {self.reason}{users}"


def _no_users(_: Loss) -> tuple[str, ...]:
    return ()


def held(plan: Plan, environment: Environment, users: Users = _no_users) -> list[Held]:
    """Return the destructive changes of ``plan`` that need confirmation, sorted by kind and name.

    Args:
        plan: plan of one stack.
        environment: target environment of the stack.
        users: returns the users of an object; called for objects whose cluster remains.
    """
    owners = frozenset(_owners(environment))
    changes = (_guarded(loss, plan, owners) or _used(loss, owners, users) for loss in plan.losses.values())
    return sorted((change for change in changes if change), key=lambda change: (str(change.loss), change.loss.urn.text))


def digest(stack: str, found: Sequence[Held]) -> str:
    """Return the confirmation token of these changes of ``stack``; it differs for other objects or reasons."""
    named = [[item.operation, item.loss.urn.text, *item.loss.forced_by, item.reason, *item.users] for item in found]
    text = json.dumps([stack, sorted(named)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def _guarded(loss: Loss, plan: Plan, owners: frozenset[str]) -> Held | None:
    if loss.replaced and not loss.changed:
        return Held(loss=loss, reason=Reason.UNCHANGED)
    if not loss.replaced and loss.identity in plan.declared:
        return Held(loss=loss, reason=Reason.RENAMED)
    if not loss.replaced and _is_taken_over(loss, plan):
        return Held(loss=loss, reason=Reason.TAKEN_OVER)
    if _kind(loss.recorded) in effects_table().guarded and (loss.replaced or not _has_ended(loss, owners)):
        return Held(loss=loss, reason=Reason.GUARDED)
    if loss.replaced and _kind(loss.recorded) in effects_table().recreated:
        return Held(loss=loss, reason=Reason.RECREATED)
    return None


def _used(loss: Loss, owners: frozenset[str], users: Users) -> Held | None:
    """Return the block of an object that is in use; a replacement under the same name still serves the users."""
    if loss.replaced or loss.cluster not in owners or (by := users(loss)) == ():
        return None
    return Held(loss=loss, reason=Reason.UNSEEN if by is None else Reason.IN_USE, users=by or ())


def _kind(recorded: Json) -> str:
    return kind_of(Manifest(body=recorded)) if recorded.keys() >= {"apiVersion", "kind"} else ""


def _is_taken_over(loss: Loss, plan: Plan) -> bool:
    """Return whether this active delivery and one of the other kind (release, Kustomization) share an operator."""
    group, _, kind = _OTHER_DELIVERY.get(_kind(loss.recorded), "").partition("/")
    if loss.identity is None or (loss.recorded.get("spec") or {}).get("suspend") is True:
        return False
    provider, _, _, *place = loss.identity
    return (provider, group, kind, *place) in plan.declared


def _has_ended(loss: Loss, owners: frozenset[str]) -> bool:
    """Return whether the data permits the deletion: the object is empty, or its owner was removed from the data."""
    kind, metadata = _kind(loss.recorded), loss.recorded.get("metadata") or {}
    if kind == _GROUP:  # the pool may be removed from the data before `up` scales it to 0
        return (loss.recorded.get("spec") or {}).get("replicas") == 0
    if kind in _NETWORKS and not _is_of_a_network(str(metadata.get("name")), owners):
        return True
    marks = metadata.get("labels") or {}
    named = [str(marks[key]) for key in (labels.TENANT, labels.CLUSTER, labels.POOL) if marks.get(key)]
    return loss.cluster not in owners or (bool(named) and "/".join(named) not in owners)


def _owners(environment: Environment) -> Iterator[str]:
    """Yield the possible owners of objects: clusters, VPCs, and paths such as ``tenant/cluster/pool``."""
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
    """Return whether an object of this name belongs to a VPC of the data: ``acme``, ``acme-west``."""
    parts = name.split("-")
    return any(_network("-".join(parts[:count])) in owners for count in range(1, len(parts) + 1))


def _network(vpc: str) -> str:
    return f"vpc {vpc}"
