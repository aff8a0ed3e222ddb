"""Report on the health of nodes: the checks of each instance type, and the nodes with faults."""

import datetime as dt
from collections.abc import Iterable, Sequence

from pydantic import AwareDatetime

from components.lookups.add_ons import gives
from components.lookups.health.node_checks import checks_of, override_of, repair_limit
from components.lookups.pools import clusters
from components.render.add_ons.add_on_monitors import history_query
from components.reports.hosts.failure_history import FailureHistory
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.health.node_checks import Detector, HealthAction, NodeCheck
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.host_tests import HostTestSpec
from components.specs.struct import Struct


class CheckRow(Spec):
    """Check of an instance type."""

    check: str
    action: HealthAction
    when_idle: HealthAction | None
    """Action on a quarantined node once it is idle, in clusters with node tests; None if it stays quarantined."""
    hold_seconds: int
    condition: str | None
    """Condition of the Node; None for a check that counts events."""
    detector: Detector
    threshold: int | None
    """Number of events within ``hold_seconds`` that raise an alert; None for a check that does not count events."""
    summary: str
    source: str
    reason: str | None
    """Reason of the deviation from the library's default; None without a deviation."""
    nodes: int | None = None
    """Nodes that have the fault now; None if only the data were read, or if nodes do not report the fault."""
    due: int | None = None
    """Nodes of these on which the action is taken at once, because the fault has lasted for the hold time."""
    history_query: str | None = None
    """PromQL expression for the number of nodes, by cluster, on which the check would have acted within seven days.
    None if no series has this history."""


class TypeHealth(Spec):
    """Checks of one instance type that pools use."""

    instance_type: str
    checks: tuple[CheckRow, ...]
    repairs: int | None
    """Repairs of a host within ``repairs_within_hours`` after which its node stays in use; None if each repair replaces
    the node, because the bare-metal backend does not reboot hosts."""
    repairs_within_hours: int | None
    """Hours in which repairs of a host are counted; None without ``repairs``."""


class NodeFault(Spec):
    """Fault of one node, as reported by its cluster."""

    cluster: str
    node: str
    pool: str
    host: str | None
    """Host of the inventory that runs the node; None if the node does not name a known host."""
    condition: str
    """Type of the condition, or key of the taint of Node Feature Discovery."""
    since: AwareDatetime | None
    message: str
    check: str | None
    """Check that sets the condition; None for a node that is not ready, and for unknown conditions."""
    action: HealthAction | None
    """Action of the check; None for a condition that no check of the type sets."""
    remediation: str | None
    """Phase of the remediation; None while none is in progress."""
    repairs: tuple[AwareDatetime, ...] = ()
    """Start of each repair of the host within the window of its instance type, including one in progress."""
    evidence: HostTestSpec | None = None
    """Last passed test of the host before it entered production; None without a record in ``host_tests.yaml``."""
    next_action: str
    """What follows without a person, or what a person should do."""


class PoolResults(Spec):
    """Number of nodes of a pool by the result of their last tests."""

    cluster: str
    pool: str
    passed: int
    failed: int
    untested: int
    """Number of nodes without a result: new nodes in burn-in, and nodes that were never idle."""
    oldest: AwareDatetime | None
    """Time of the oldest of the nodes' last results; None without a result."""


class Health(Spec):
    """Checks and faults of a region."""

    environment: str
    types: tuple[TypeHealth, ...]
    unwatched: tuple[str, ...]
    """Clusters without an add-on that reports faults."""
    unquarantined: tuple[str, ...]
    """Clusters without an add-on that taints nodes with faults."""
    faults: tuple[NodeFault, ...] | None = None
    """Nodes with faults; None if only the data were read."""
    tested: tuple[PoolResults, ...] = ()
    """Pools whose nodes are tested, with their last results; empty if only the data were read."""
    unreachable: tuple[str, ...] = ()
    """Clusters that could not be read."""
    history: FailureHistory | None = None
    """Failures of hosts in a part of the git history; None if it was not read."""


def health(
    environment: Environment,
    faults: Iterable[NodeFault] | None = None,
    unreachable: Iterable[str] = (),
    now: dt.datetime | None = None,
    tested: Iterable[PoolResults] = (),
    history: FailureHistory | None = None,
) -> Health:
    """Return the checks of all instance types of pools, with faults and results of tests if the clusters were read.

    Args:
        environment: the region.
        faults: faults of nodes; None if only the data were read.
        unreachable: clusters that could not be read.
        now: time at which the clusters were read.
        tested: results of node tests by pool.
        history: failures of hosts; None if the history was not read.
    """
    every = list(clusters(environment))
    types = {(at.cluster.name, pool.name): pool.instance_type for at in every for pool in at.cluster.pools}
    read = None if faults is None else tuple(faults)
    of_type: dict[str, list[NodeFault]] = {name: [] for name in sorted({*types.values()})}
    for fault in read or ():
        of_type[types[fault.cluster, fault.pool]].append(fault)

    def without(capability: Capability) -> tuple[str, ...]:
        return tuple(placed.cluster.name for placed in every if not gives(environment, placed, capability))

    return Health(
        environment=environment.name,
        types=tuple(
            _type(environment, name, None if now is None else _Now(those, now)) for name, those in of_type.items()
        ),
        unwatched=without(Capability.NODE_PROBLEMS),
        unquarantined=without(Capability.NODE_READINESS),
        faults=read,
        unreachable=tuple(sorted(unreachable)),
        tested=tuple(tested),
        history=history,
    )


class _Now(Struct, kw_only=False):
    """Faults of the nodes of one instance type."""

    faults: Sequence[NodeFault]
    at: dt.datetime

    def counts(self, check: NodeCheck) -> dict[str, int]:
        """Return the numbers of nodes with the fault of ``check``; empty if nodes do not report it."""
        if check.condition is None and check.detector is not Detector.DEVICES:
            return {}
        those = [fault for fault in self.faults if fault.check == check.name]
        return {"nodes": len(those), "due": sum(is_due(check, lasted(fault.since, self.at)) for fault in those)}


def lasted(since: dt.datetime | None, now: dt.datetime) -> dt.timedelta | None:
    """Return the duration of a fault; None if its begin is unknown."""
    return None if since is None else now - since


def is_due(check: NodeCheck, duration: dt.timedelta | None) -> bool:
    """Return whether ``check`` acts on a node with a fault of this duration; None for an unknown one."""
    if check.action is HealthAction.REPAIR:
        return duration is not None and duration >= dt.timedelta(seconds=check.hold_seconds)
    return check.action is HealthAction.QUARANTINE


def _type(environment: Environment, kind: str, now: _Now | None) -> TypeHealth:
    reboots = environment.region.bare_metal.backend is BareMetalBackend.METAL3
    limit = repair_limit(environment, kind) if reboots else None
    return TypeHealth(
        instance_type=kind,
        checks=_rows(environment, kind, now),
        repairs=limit.repairs if limit else None,
        repairs_within_hours=limit.within_hours if limit else None,
    )


def _rows(environment: Environment, kind: str, now: _Now | None) -> tuple[CheckRow, ...]:
    rows = []
    for check in checks_of(environment, environment.instance_types.by_name[kind]):
        override = override_of(environment, check.name, kind)
        rows.append(
            CheckRow(
                check=check.name,
                action=check.action,
                when_idle=check.when_idle,
                hold_seconds=check.hold_seconds,
                condition=check.condition,
                detector=check.detector,
                threshold=check.threshold if check.reason and not check.condition else None,
                summary=check.summary,
                source=check.source,
                reason=override.reason if override else None,
                history_query=history_query(check),
                **(now.counts(check) if now else {}),
            )
        )
    return tuple(rows)
