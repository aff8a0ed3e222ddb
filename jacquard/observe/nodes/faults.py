"""Reads the faults of a region's nodes: conditions of Nodes that checks set, and remediations in progress."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping

from components.lookups.add_ons import node_tests
from components.lookups.health.node_checks import checks_by_type, repair_limit
from components.lookups.health.node_tests import repair_times
from components.lookups.pools import PlacedCluster, clusters
from components.programs.failed_repairs import GAVE_UP, has_returned, repairs
from components.programs.repair_times import APPROVED
from components.programs.spare_hosts import is_free
from components.render import labels as keys
from components.render.add_ons.declared_hardware import UNLIKE
from components.render.health.node_tests import IDLE_FAULT, RepairTimes
from components.render.pools import metal3
from components.render.pools.pool_rollout import opening_text, waits_for_jobs
from components.reports.health import NodeFault
from components.specs.environment import Environment
from components.specs.health.node_checks import Detector, HealthAction, NodeCheck
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.region.tenant import Approval, TenantSpec
from components.specs.struct import Struct, replace
from jacquard.observe.backends import bare_metal
from jacquard.observe.nodes.failed_hosts import HOSTS, waits_for_spare
from jacquard.observe.nodes.live import capacity_text, host_place
from jacquard.observe.objects import Kind, Object, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

MACHINE = ("cluster.x-k8s.io/v1beta2", "Machine")
REMEDIATION = (metal3.API, "Metal3Remediation")
_UPSTREAM = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
"""Conditions that a kubelet or a pod network sets. All others that are True report a fault, except the burn-in's."""


class _Host(Struct):
    """Host of one node, with its repairs."""

    name: str | None
    """Name in the inventory; None for an unknown host."""
    phase: str | None
    """Phase of the repair in progress; None without one."""
    starts: tuple[dt.datetime, ...]
    exceeded: bool
    """Whether the next repair replaces the node, or the one in progress does, if a host is free."""
    spare: bool = True
    """Whether a host is free that would replace the host."""
    triage: str = ""
    """Command that takes the host out of service, if the backend replaces nodes without a reboot; otherwise empty."""
    waits: str = ""
    """Usable and contracted nodes, if the repair has failed and the Machine waits for a free host; otherwise empty."""


class _Cluster(Struct):
    """Data about the faults of the nodes of one cluster."""

    name: str
    checks: Mapping[str, Mapping[str, NodeCheck]]
    """Checks of each pool, by the condition that they set."""
    drains: Mapping[str, str]
    """Condition for the drain of a node of each pool whose jobs can continue."""
    repairs: RepairTimes | None
    """Times of repairs of idle nodes; None if they may begin at any time."""
    now: dt.datetime

    def when_idle(self, node: Object, *, requested: bool) -> str:
        """Return the next step for a node that is rebooted once it is idle; a requested reboot waits for nothing."""
        times, first, when = self.repairs, "none", ""
        if times and not requested:
            boot = dig(node, "status", "nodeInfo", "bootID")
            if times.approval and (dig(node, "metadata", "annotations") or {}).get(APPROVED) != boot:
                first = f"approve the reboot by kubectl annotate node {key(node)[1]} --overwrite {APPROVED}={boot}"
            when += f" in the tenant's window ({opening_text(times.window)})" if times.window else ""
            ends = [freeze.to for freeze in times.freezes if freeze.from_ <= self.now < freeze.to]
            when += f" after {max(ends).isoformat()}, the end of the freeze," if ends else ""
        limit = "within the limit of its rollout group"
        return f"{first}; the host is rebooted{when} once only pods of DaemonSets are left, {limit}"


def management_kinds(environment: Environment) -> tuple[Kind, ...]:
    """Return the kinds that `node_faults` reads in the management cluster."""
    return tuple(dict.fromkeys((MACHINE, REMEDIATION, *HOSTS, *bare_metal(environment).hosts)))


def node_faults(environment: Environment, seen: Observation) -> Iterator[NodeFault]:
    """Yield the faults of all nodes of pools, ordered by cluster, node and condition."""
    now = seen.at or dt.datetime.now(dt.UTC)
    phases = {key(body): str(dig(body, "status", "phase") or "Pending") for body in seen.of(REMEDIATION[1])}
    hosts = {key(body): body for body in seen.of(HOSTS[0][1])}
    machines = {
        (key(body)[0], str(node)): body
        for body in seen.of(MACHINE[1])
        if (node := dig(body, "status", "nodeRef", "name"))
    }
    metal, reboots = bare_metal(environment), environment.region.bare_metal.backend is BareMetalBackend.METAL3
    report = metal.report(seen.of)
    free = Counter(_place(body) for body in hosts.values() if is_free(body))
    for placed in sorted(clusters(environment), key=lambda placed: placed.cluster.name):
        cluster = placed.cluster.name
        known = _Cluster(
            name=cluster,
            checks=_checks(environment, placed),
            drains={pool.name: _when(placed.tenant, pool) for pool in placed.cluster.pools},
            repairs=repair_times(environment, placed.tenant),
            now=now,
        )
        for node in sorted(seen.of("Node", cluster), key=key):
            machine = machines.get((cluster, key(node)[1]))
            phase = phases.get(key(machine)) if machine else None
            place = host_place(node, metal.provider)
            name = report(place)[0] if place else None
            body = hosts.get((cluster, name or ""))
            spare = body is None or free[_place(body)] > 0
            waits = capacity_text(seen, placed.tenant, node) if waits_for_spare(machine) else ""
            triage = "" if reboots else _triage(environment, name)
            host = replace(_host(environment, name, body, phase, now), spare=spare, waits=waits, triage=triage)
            yield from _of_node(environment, known, node, host)


def _when(tenant: TenantSpec, pool: NodePoolSpec) -> str:
    """Return the condition for the drain of a node of ``pool`` whose jobs can continue."""
    if waits_for_jobs(pool):
        return "at any time, because Cluster API waits for the jobs of the node"
    changes = tenant.changes
    allowed = ["with the tenant's approval"] if changes.approval is Approval.REQUIRED else []
    allowed += [f"in the tenant's window ({opening_text(changes.window)})"] if changes.window else []
    return f"when its jobs have ended, or {' '.join(allowed)}" if allowed else "when its jobs have ended"


def _host(
    environment: Environment, name: str | None, body: Object | None, phase: str | None, now: dt.datetime
) -> _Host:
    """Return a host and its repairs; none are known of a host that is not an object of Metal3."""
    if body is None:
        return _Host(name=name, phase=phase, starts=(), exceeded=False)
    limit = repair_limit(environment, str((dig(body, "metadata", "labels") or {}).get(keys.INSTANCE_TYPE, "")))
    starts = tuple(repairs(body, now, limit.within_hours))
    marked = has_returned(dig(body, "metadata", "annotations") or {})
    exceeded = marked or (phase is None and len(starts) >= limit.repairs)
    return _Host(name=name, phase=phase, starts=starts, exceeded=exceeded)


def _place(host: Object) -> tuple[str, ...]:
    """Return the namespace of a host, and the labels by which templates of pools select it."""
    labels = dig(host, "metadata", "labels") or {}
    return key(host)[0], *(str(labels.get(name, "")) for name in (keys.POOL, keys.FAILURE_DOMAIN))


def _checks(environment: Environment, placed: PlacedCluster) -> dict[str, dict[str, NodeCheck]]:
    """Return the checks of each pool by the condition that they set, with actions on idle nodes only where they act."""
    by_type = checks_by_type(environment, (pool.instance_type for pool in placed.cluster.pools))
    tests = node_tests(environment, placed)
    repaired = {name for name, pool in tests.pools.items() if pool.when_idle} if tests else set()
    return {
        pool.name: {
            kind: check if pool.name in repaired else check.model_copy(update={"when_idle": None})
            for check in by_type[pool.instance_type]
            if (kind := _condition(check))
        }
        for pool in placed.cluster.pools
    }


def _condition(check: NodeCheck) -> str | None:
    return UNLIKE if check.detector is Detector.DEVICES else check.condition


def _of_node(environment: Environment, cluster: _Cluster, node: Object, host: _Host) -> Iterator[NodeFault]:
    pool = str((dig(node, "metadata", "labels") or {}).get(keys.NODE_POOL, ""))
    if pool not in cluster.checks:
        return
    quarantined = f"{cluster.drains[pool]}: {_triage(environment, host.name)}"
    gate = environment.region.nodes.gate
    burn_in = gate.condition if gate else None
    for item in sorted(_conditions(node), key=lambda item: str(item.get("type"))):
        if not _is_fault(item, burn_in):
            continue
        ready, check = item["type"] == "Ready", cluster.checks[pool].get(str(item["type"]))
        at = replace(host, exceeded=False) if check and check.requested else host
        default = {"Ready": HealthAction.REPAIR, burn_in: HealthAction.QUARANTINE}.get(item["type"])
        action = check.action if check else default
        idle = cluster.when_idle(node, requested=check.requested) if check and check.when_idle else None
        yield NodeFault(
            cluster=cluster.name,
            node=key(node)[1],
            pool=pool,
            host=host.name,
            condition="NotReady" if ready else str(item["type"]),
            since=_time(item.get("lastTransitionTime")),
            message=str(item.get("message", "")),
            check=check.name if check else None,
            action=action,
            remediation=host.phase,
            repairs=host.starts,
            evidence=environment.host_tests.get(host.name or ""),
            next_action=_next(at, action, idle or quarantined),
        )


def _triage(environment: Environment, host: str | None) -> str:
    return f"jacquard host {environment.name} {host or 'HOST'} --to triage --reason TEXT"


def _conditions(node: Object) -> Iterator[Object]:
    """Yield the conditions of a node, and the taint of Node Feature Discovery as a condition without a time."""
    yield from dig(node, "status", "conditions") or ()
    if any(taint.get("key") == UNLIKE for taint in dig(node, "spec", "taints") or ()):
        message = "a GPU, fabric port or DPU function is missing, or of another model"
        yield {"type": UNLIKE, "status": "True", "message": message}


def _is_fault(item: Object, burn_in: str | None) -> bool:
    """Return whether a condition reports a fault: not ready, a failed burn-in, or any other that is True."""
    kind, status = item.get("type"), item.get("status")
    if kind == "Ready":
        return bool(status != "True")
    return bool(status == "False") if kind == burn_in else status == "True" and kind not in {*_UPSTREAM, IDLE_FAULT}


def _time(text: object) -> dt.datetime | None:
    return dt.datetime.fromisoformat(str(text)) if text else None


def _next(host: _Host, action: HealthAction | None, quarantined: str) -> str:
    """Return the next step; ``quarantined`` is that of a node in quarantine."""
    if host.phase is None:
        return _without_repair(host, action, quarantined)
    if host.phase == GAVE_UP and host.waits:
        remedy = "return a repaired host of the pool to production, or assign more hosts"
        return f"{remedy}; no spare is free to replace it ({host.waits})"
    if host.phase == GAVE_UP:
        return "none; a spare replaces the node, because reboots did not help"
    if host.exceeded and host.spare:
        return f"none; a spare replaces the node after the reboot, because the fault returned ({host.phase})"
    return f"none; a remediation is in progress ({host.phase})"


def _without_repair(host: _Host, action: HealthAction | None, quarantined: str) -> str:
    match action:
        case HealthAction.REPAIR if host.triage:
            after = "the node is replaced after the hold time, also if no host is free"
            return f"{host.triage}, so that no claim takes the host; {after}"
        case HealthAction.REPAIR if host.exceeded and not host.spare:
            return "none; the host is rebooted again, and its node stays in use, because no spare is free to replace it"
        case HealthAction.REPAIR if host.exceeded:
            return "none; the host is rebooted and a spare replaces the node, because an earlier repair did not last"
        case HealthAction.REPAIR:
            return "none; the host is rebooted, then the node is replaced, within the limit of its rollout group"
        case HealthAction.QUARANTINE:
            return quarantined
        case _:
            return "none; look at the alert"
