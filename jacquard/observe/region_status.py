"""Computes the status of a region: an `Observation` of its clusters, compared with its data. Pure; see `observe`."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from components.lookups.control_planes import running_version
from components.render.manifest import MANAGEMENT
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import chart_key, pool_key, vm_key
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct
from components.specs.vms.vm_offering import RunStrategy, VirtualMachineSpec
from jacquard.observe.backends import bare_metal, control_planes
from jacquard.observe.chart_status import ChartStatus, chart_status
from jacquard.observe.dpu_status import DpuDeploymentStatus, dpu_deployments
from jacquard.observe.objects import UNKNOWN, holds, key
from jacquard.observe.observation import Observation
from jacquard.observe.pool_status import Pool, Pools
from jacquard.observe.release_status import ReleaseStatus, releases
from jacquard.observe.slice_runs import SliceStatus, slices
from jacquard.providers.kube.objects import dig

RUNNING = "Running"
"""State of a running VM in KubeVirt."""
_POLL_SECONDS = 1.0
"""Minimum pause between two observations."""
_PAUSE = 3
"""Minimum pause relative to the duration of an observation, so that observing a large region is no constant load."""


class ControlPlane(Struct):
    """A hosted control plane and its endpoint."""

    name: str
    tenant: str
    version: str
    """Declared version."""
    running_version: str | None
    endpoint: str | None
    ready: bool
    reachable: bool
    """Whether the API answers requests from this machine."""


class Vpc(Struct):
    """A tenant's network, with its allocated numbers."""

    name: str
    tenant: str
    isolation: str
    vni: int | None
    hosts: str | None
    pods: str | None
    egress: str


class StorageClass(Struct):
    """A storage class that a cluster offers; ``present`` is None if the cluster's API does not answer."""

    cluster: str
    name: str
    driver: str
    default: bool
    present: bool | None


class Offering(Struct):
    """Sizes and images of VMs that a cluster offers."""

    cluster: str
    sizes: list[str]
    images: list[str]


class Vm(Struct):
    """A virtual machine, or a fleet of them; ``state`` is None if its cluster does not answer."""

    cluster: str
    name: str
    size: str
    image: str
    public_ip: str | None
    volumes: list[str]
    state: str | None


class RegionStatus(Struct):
    """Result of ``jacquard status``; the field names are the keys of its JSON."""

    schema_version: int = 1
    environment: str
    observed_at: str | None
    """Time of the observation."""
    settled: bool
    why: list[str]
    burn_in: list[str]
    """Rollout groups with nodes in burn-in, and its expected end. They do not affect ``settled``."""
    unreachable: dict[str, str]
    """Reason why a cluster could not be read, by cluster."""
    clusters: list[ControlPlane]
    pools: list[Pool]
    hosts: dict[str, int]
    """Number of hosts by state, in the terms of the bare-metal backend."""
    dpus: dict[str, int]
    dpu_deployments: list[DpuDeploymentStatus]
    """DPUs by DPUDeployment. DPUs do not affect ``settled``: each DPU waits for the release of its maintenance hold."""
    charts: list[ChartStatus]
    """Charts that are pinned for clusters."""
    releases: list[ReleaseStatus]
    """All Helm releases; those of a pinned chart affect ``settled`` through their chart."""
    slices: list[SliceStatus]
    """Slices that an operator applies; empty in a region without an operator."""
    vpcs: list[Vpc]
    storage_classes: list[StorageClass]
    offerings: list[Offering]
    vms: list[Vm]


def assemble(environment: Environment, seen: Observation) -> RegionStatus:
    """Compare the observation with the data."""
    clusters = [_control_plane(environment, t, c, seen) for t in environment.tenants for c in t.clusters]
    index = Pools(environment, seen)
    pools = [index.pool(c, p) for t in environment.tenants for c in t.clusters for p in c.pools]
    charts = chart_status(environment, seen, pools)
    installed = releases(seen, {cluster.name for cluster in clusters})
    applied = slices(seen)
    vms = [vm for tenant in environment.tenants for vm in _vms(environment, tenant, seen)]
    meant_to_run = _meant_to_run(environment)
    states = {name: vm.state for vm in vms if (name := vm_key(vm.cluster, vm.name)) in meant_to_run}
    classes = [sc for t in environment.tenants for c in t.clusters for sc in _classes(environment, c, seen)]
    unread = [f"cluster {name} cannot be read: {reason}" for name, reason in seen.unreachable.items()]
    # Without the management cluster, all other states are unknown; a message for each pool would hide the reason.
    why = (
        unread
        if MANAGEMENT in seen.unreachable
        else [
            *unread,
            *(f"slice {item.name} {item.why}" for item in applied if item.why),
            *(f"control plane {c.name} is not ready" for c in clusters if not c.ready),
            *_reasons(pools, in_burn_in=False),
            *(f"{chart_key(chart.chart, chart.cluster)}: {reason}" for chart in charts for reason in chart.why),
            *(
                f"release {release.name} of {release.cluster} {release.why}"
                for release in installed
                if release.why and (release.cluster, release.chart) not in {(c.cluster, c.chart) for c in charts}
            ),
            *(f"storage class {sc.name} is missing in {sc.cluster}" for sc in classes if sc.present is False),
            *(f"vm {name} is {state}" for name, state in states.items() if state not in (None, RUNNING)),
        ]
    )
    return RegionStatus(
        environment=environment.name,
        observed_at=seen.at.isoformat() if seen.at else None,
        settled=not why,
        why=why,
        burn_in=list(_reasons(pools, in_burn_in=True)),
        unreachable=seen.unreachable,
        clusters=clusters,
        pools=pools,
        hosts=_tally(state for _, state in bare_metal(environment).states(seen.of)),
        dpus=_tally(str(dig(body, "status", "phase") or UNKNOWN) for body in seen.of("DPU")),
        dpu_deployments=dpu_deployments(environment, seen),
        charts=charts,
        releases=installed,
        slices=applied,
        vpcs=[vpc for tenant in environment.tenants for vpc in _vpcs(environment, tenant)],
        storage_classes=classes,
        offerings=[
            Offering(cluster=t.vms.cluster, sizes=list(t.vms.offerings), images=list(t.vms.images))
            for t in environment.tenants
            if t.vms
        ],
        vms=vms,
    )


def _reasons(pools: Iterable[Pool], *, in_burn_in: bool) -> Iterable[str]:
    """Yield why groups are not settled: those that wait only for a burn-in, or all others."""
    for pool in pools:
        for group in pool.groups:
            if (group.burn_in is not None) is in_burn_in:
                where = f"{pool_key(pool.cluster, pool.name)} {group.failure_domain}"
                yield from (f"{where}: {reason}" for reason in group.why)


def _tally(states: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(states).items()))


def _control_plane(
    environment: Environment, tenant: TenantSpec, cluster: ClusterSpec, seen: Observation
) -> ControlPlane:
    body = seen.management_object("Cluster", cluster.name, cluster.name) or {}
    backend = control_planes(environment)
    reported = dig(seen.management_object(backend.kind[1], cluster.name, cluster.name), "status", "version")
    endpoint = dig(body, "spec", "controlPlaneEndpoint") or {}
    running, version = backend.kubernetes(reported) if reported else None, running_version(environment, cluster)
    return ControlPlane(
        name=cluster.name,
        tenant=tenant.tenant,
        version=version,
        running_version=running,
        endpoint=f"{endpoint['host']}:{endpoint.get('port', 6443)}" if endpoint.get("host") else None,
        ready=holds(body, "ControlPlaneAvailable") and running == version,
        reachable=cluster.name not in seen.unreachable,
    )


def _vpcs(environment: Environment, tenant: TenantSpec) -> Iterable[Vpc]:
    for vpc in tenant.vpcs:
        numbers = environment.allocations.vpcs.get(vpc.name)
        yield Vpc(
            name=vpc.name,
            tenant=tenant.tenant,
            isolation=vpc.isolation.value,
            vni=numbers.vni if numbers else None,
            hosts=str(numbers.hosts) if numbers else None,
            pods=str(numbers.pods) if numbers else None,
            egress=vpc.egress.value,
        )


def _classes(environment: Environment, cluster: ClusterSpec, seen: Observation) -> Iterable[StorageClass]:
    specs = {spec.name: spec for spec in environment.region.storage}
    present = {key(body)[1] for body in seen.of("StorageClass", cluster.name)}
    for name in cluster.storage:
        yield StorageClass(
            cluster=cluster.name,
            name=name,
            driver=specs[name].driver,
            default=specs[name].default,
            present=None if cluster.name in seen.unreachable else name in present,
        )


def _vms(environment: Environment, tenant: TenantSpec, seen: Observation) -> Iterable[Vm]:
    if tenant.vms is None:
        return
    cluster = tenant.vms.cluster
    states = {key(body)[1]: dig(body, "status", "printableStatus") for body in seen.of("VirtualMachine", cluster)}
    for vm in tenant.vms.machines:
        address = environment.allocations.public_ips.get(vm_key(cluster, vm.name))
        yield Vm(
            cluster=cluster,
            name=vm.name,
            size=vm.size,
            image=vm.image,
            public_ip=str(address) if address else None,
            volumes=[f"{volume.name} {volume.size} {volume.storage_class}" for volume in vm.volumes],
            state=None if cluster in seen.unreachable else _vm_state(vm, states),
        )


def _meant_to_run(environment: Environment) -> frozenset[str]:
    """Return the keys of VMs that must always run."""
    every = ((tenant.vms.cluster, vm) for tenant in environment.tenants if tenant.vms for vm in tenant.vms.machines)
    return frozenset(vm_key(cluster, vm.name) for cluster, vm in every if vm.run_strategy is RunStrategy.ALWAYS)


def _vm_state(vm: VirtualMachineSpec, states: Mapping[str, str | None]) -> str:
    """Return the state of a VM in KubeVirt; for a fleet, the number of running VMs unless all run."""
    if vm.count is None:
        return (states[vm.name] or "Pending") if vm.name in states else "Missing"
    running = sum(states.get(f"{vm.name}-{number}") == RUNNING for number in range(vm.count))
    return RUNNING if running == vm.count else f"{running} of {vm.count} {RUNNING}"


def settle(
    look: Callable[[], RegionStatus],
    show: Callable[[RegionStatus], None],
    *,
    polls: int,
    timeout_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> RegionStatus:
    """Poll until the region is settled in ``polls`` consecutive observations, and return the last status.

    One observation is not sufficient after a change: the state before a controller starts equals the state after it
    finishes. Burn-ins are waited for as well, but a region whose burn-ins outlast the timeout is settled.
    """
    deadline = clock() + timeout_seconds
    in_a_row = 0
    while True:
        start = clock()
        status = look()
        looked = clock() - start
        show(status)
        in_a_row = in_a_row + 1 if status.settled and not status.burn_in else 0
        if in_a_row >= polls or clock() >= deadline:
            return status
        sleep(max(_POLL_SECONDS, _PAUSE * looked))
