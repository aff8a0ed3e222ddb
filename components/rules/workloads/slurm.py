"""Rules about Slurm clusters: names that resolve, durable state, locked nodes, whole GPUs, and reachable logins."""

import datetime as dt
from collections.abc import Iterator, Mapping

from components.intents.images import find_image
from components.intents.nodes import intents_of
from components.lookups.add_ons import add_ons, gives
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem, vm_pools
from components.render.backends import NETWORK_BACKENDS, Filter
from components.render.workloads.slurm import SSH_PORT
from components.render.workloads.slurm_pool import CHART, HARD, LOCK
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.network.security_groups import Protocol, SecurityRuleSpec
from components.specs.network.tenant_network import Egress, Ingress
from components.specs.pools.node_pool import NodePoolSpec, PoolRole
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed, one_of, undeclared
from components.specs.storage.storage import StorageClassSpec
from components.specs.workloads.slurm import RESERVED, SlurmSpec

_NEEDS: Mapping[str | int, str] = {
    "controller": "jobs and reservations must outlive that node",
    "accounting": "records of jobs must outlive that node",
    "volumes": "this volume is mounted by many nodes",
}
_LOCK = f"{{key: {LOCK}, effect: NoExecute}}"


def partition_pools(environment: Environment) -> Iterator[Problem]:
    """Report pools of partitions that the cluster does not have."""
    for placed, spec, path in _slurm(environment):
        names = [pool.name for pool in placed.cluster.pools]
        for at, partition in enumerate(spec.partitions):
            for index, name in enumerate(partition.pools):
                if name not in names:
                    there = place(environment, placed.file, (*placed.path, "pools"))
                    text = undeclared(name, names, f"pools of the cluster ({there})")
                    yield problem(environment, placed.file, (*path, "partitions", at, "pools", index), text)


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def retired_partitions(environment: Environment) -> Iterator[Problem]:
    """Report partitions without nodes, because all their pools retire."""
    for placed, spec, path in _slurm(environment):
        retired = {pool.name for pool in placed.cluster.pools if pool.retire}
        for at, partition in enumerate(spec.partitions):
            if retired.issuperset(partition.pools) and not placed.cluster.retire:
                text = f"all retire ({listed(partition.pools)}); list another pool, or remove the partition"
                yield problem(environment, placed.file, (*path, "partitions", at, "pools"), text)


def volume_classes(environment: Environment) -> Iterator[Problem]:
    """Report storage classes of Slurm's volumes that the cluster does not offer."""
    for placed, spec, path in _slurm(environment):
        offered = placed.cluster.storage
        there = place(environment, placed.file, (*placed.path, "storage" if offered else "name"))
        for where, name in _classes(spec):
            if name not in offered:
                text = undeclared(name, offered, f"storage of the cluster ({there})")
                yield problem(environment, placed.file, (*path, *where), text)


def add_on(environment: Environment) -> Iterator[Problem]:
    """Report Slurm clusters without the operator that creates them."""
    names = [entry.name for entry in environment.add_ons.add_ons if entry.chart == CHART]
    for placed, _, path in _slurm(environment):
        if not any(entry.chart == CHART for entry in add_ons(environment, placed)):
            remedy = (
                f"write add_ons: [default, {names[0]}]" if names else f"add one with chart {CHART} to the catalogue"
            )
            text = f"requires an add-on with chart {CHART}, whose operator creates the daemons; {remedy}"
            yield problem(environment, placed.file, path, text)


def durable_state(environment: Environment) -> Iterator[Problem]:
    """Report volumes of Slurm that are lost with a node, and shared volumes that only one node mounts."""
    known = {entry.name: entry for entry in environment.region.storage}
    for placed, spec, path in _slurm(environment):
        offered = [known[name] for name in placed.cluster.storage if name in known]
        for where, name in _classes(spec):
            shared = where[0] == "volumes"
            entry = known.get(name)
            if entry is None or name not in placed.cluster.storage or _keeps(entry, shared=shared):
                continue
            fault = "is on the disks of one node" if entry.LOCAL or not entry.durable else "is mounted by one node only"
            need = _NEEDS[where[0]]
            fits = [other.name for other in offered if _keeps(other, shared=shared)]
            remedy = f"write {one_of(fits)}" if fits else f"add a class on a storage system to storage of {REGION}"
            yield problem(environment, placed.file, (*path, *where), f"'{name}' {fault}, but {need}; {remedy}")


def locks(environment: Environment) -> Iterator[Problem]:
    """Report pools of partitions without Slurm's taint, and pools with other uses.

    The taint makes a node Slurm's: no pod of Kubernetes is scheduled there.
    """
    for placed, spec, path in _slurm(environment):
        for at, pool in enumerate(placed.cluster.pools):
            if pool.name in spec.pools:
                where = place(environment, placed.file, path)
                for field, fault in _other_uses(environment, placed, pool):
                    text = f"its nodes are Slurm's ({where}), {fault}"
                    yield problem(environment, placed.file, (*placed.path, "pools", at, *field), text)


def unused_locks(environment: Environment) -> Iterator[Problem]:
    """Report pools with Slurm's taint in no partition, where neither Slurm nor Kubernetes runs jobs."""
    for placed, spec, _ in _slurm(environment):
        for at, pool in enumerate(placed.cluster.pools):
            if pool.name not in spec.pools and _is_locked(pool):
                text = f"has the taint of Slurm, but no partition lists the pool; remove {LOCK}, or list the pool"
                yield problem(environment, placed.file, (*placed.path, "pools", at, "taints"), text)


def _is_locked(pool: NodePoolSpec) -> bool:
    return any(taint.key == LOCK and taint.effect in HARD for taint in pool.taints)


def _other_uses(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> Iterator[tuple[DataPath, str]]:
    vms = placed.tenant.vms
    if pool.role is PoolRole.SYSTEM:
        yield ("role",), "but role system is for the services of the cluster; list another pool in the partition"
    elif not _is_locked(pool):
        yield ("taints",) if pool.taints else (), f"but pods of Kubernetes can run there; add {_LOCK} to taints"
    if pool.autoscaling:
        text = "and Slurm has one node for each of nodes; remove autoscaling, or list another pool in the partition"
        yield ("autoscaling",), text
    if (
        vms
        and vms.cluster == placed.cluster.name
        and pool.name in {other.name for other in vm_pools(environment, vms, placed.cluster)}
    ):
        yield ("name",), "but vms runs machines there; list other pools in vms.pools, or in the partition"


def whole_gpus(environment: Environment) -> Iterator[Problem]:
    """Report pools of partitions whose GPUs pods cannot request whole: Slurm itself assigns GPUs to jobs."""
    for placed, _, at, pool in _pools(environment):
        path = (*placed.path, "pools", at)
        if pool.gpu_sharing is not None:
            text = "divides GPUs that Slurm assigns to jobs (gres); remove it, or list another pool in the partition"
            yield problem(environment, placed.file, (*path, "gpu_sharing"), text)
        for intent in intents_of(environment, pool_key(placed.cluster.name, pool.name)).values():
            image = find_image(environment, intent.image)
            if image is not None and image.contents.vfio_devices:
                text = (
                    f"its nodes run image {image.version}, whose GPUs are for VMs, so Slurm has no gres; promote to an"
                    " image without vfio_devices"
                )
                yield problem(environment, placed.file, (*path, "image"), text)
                break


def gpu_check(environment: Environment) -> Iterator[Problem]:
    """Report checks of GPUs in Slurm clusters without GPUs."""
    kinds = environment.instance_types.by_name
    for placed, spec, path in _slurm(environment):
        mine = [pool for pool in placed.cluster.pools if pool.name in spec.pools]
        known = [kinds[pool.instance_type] for pool in mine if pool.instance_type in kinds]
        # A pool that is not declared may have GPUs; `partition_pools` reports it.
        if spec.gpu_check and len(known) == len(spec.pools) and not any(kind.gpu for kind in known):
            there = place(environment, placed.file, (*path, "partitions"))
            text = f"no pool of the partitions ({there}) has GPUs to count; remove it"
            yield problem(environment, placed.file, (*path, "gpu_check"), text)


def node_names(environment: Environment) -> Iterator[Problem]:
    """Report pools whose name Slurm interprets, or that is the name of another pool's node.

    The node set of a pool has its name, and its nodes have the name and a number.
    """
    for placed, spec, at, pool in _pools(environment):
        base, _, number = pool.name.rpartition("-")
        if pool.name in RESERVED:
            text = f"'{pool.name}' is a keyword of Slurm's configuration; a partition needs a pool of another name"
        elif number.isdecimal() and base in spec.pools:
            text = f"'{pool.name}' is also a node of pool {base} in Slurm; a partition needs a pool of another name"
        else:
            continue
        yield problem(environment, placed.file, (*placed.path, "pools", at, "name"), text)


def logins(environment: Environment) -> Iterator[Problem]:
    """Report login nodes that get no address, or whose address no user reaches, or no host of a listed network."""
    for placed, spec, path in _slurm(environment):
        if spec.login is None:
            continue
        where = (*path, "login")
        if not gives(environment, placed, Capability.LOAD_BALANCERS):
            text = "needs an address, but no add-on provides load-balancers; add metallb to add_ons, or remove it"
            yield problem(environment, placed.file, where, text)
            continue
        unreached = list(_unreached(environment, placed)) if spec.login.public_ip else []
        for text in unreached:
            yield problem(environment, placed.file, (*where, "public_ip"), text)
        for at, network in enumerate(spec.login.sources if not unreached else ()):
            if text := _dropped(environment, placed, network, public=spec.login.public_ip):
                yield problem(environment, placed.file, (*where, "sources", at), text)


def _dropped(environment: Environment, placed: PlacedCluster, network: Network, *, public: bool) -> str:
    """Return the reason why no packet of ``network`` reaches the login nodes; empty if some do."""
    vpc = placed.vpc
    if vpc is None:
        return ""
    for at, denied in enumerate(vpc.deny):
        if network.subnet_of(denied):
            there = place(environment, placed.file, (*placed.vpc_path, "deny", at))
            return f"'{network}' is in {denied}, to which VPC {vpc.name} sends nothing ({there}); remove one of them"
    for at, denied in enumerate(environment.region.networks.deny):
        if network.subnet_of(denied):
            there = place(environment, REGION, ("networks", "deny", at))
            return f"'{network}' is in {denied}, to which no VPC sends anything ({there}); remove it"
    group = next((group for group in placed.tenant.security_groups if group.name == vpc.security_group), None)
    if group is None or not public or any(_admits(rule, network) for rule in group.ingress):
        return ""
    there = place(environment, placed.file, ("security_groups", placed.tenant.security_groups.index(group), "ingress"))
    return f"security group {group.name} drops SSH from '{network}' ({there}); add it there with tcp port {SSH_PORT}"


def _admits(rule: SecurityRuleSpec, network: Network) -> bool:
    """Return whether a security group permits SSH from at least a part of ``network`` by ``rule``."""
    return _opens_ssh(rule) and (rule.cidr is None or rule.cidr.overlaps(network))


def _opens_ssh(rule: SecurityRuleSpec) -> bool:
    return rule.protocol in {Protocol.TCP, Protocol.ANY} and (SSH_PORT in rule.ports or not rule.ports)


def _unreached(environment: Environment, placed: PlacedCluster) -> Iterator[str]:
    vpc = placed.vpc
    if vpc is None:
        return
    if vpc.ingress is not Ingress.PUBLIC:
        there = place(environment, placed.file, (*placed.vpc_path, "ingress"))
        yield f"nothing outside VPC {vpc.name} reaches the address (ingress: {vpc.ingress}, {there}); write false"
    elif vpc.egress is Egress.NONE and NETWORK_BACKENDS[vpc.isolation].filters is Filter.HOSTS:
        there = place(environment, placed.file, (*placed.vpc_path, "egress"))
        yield f"replies are dropped, because filters of DPUs are stateless (egress: none, {there}); write false"
    groups = {group.name: (at, group) for at, group in enumerate(placed.tenant.security_groups)}
    if vpc.security_group in groups:
        at, group = groups[vpc.security_group]
        if not any(map(_opens_ssh, group.ingress)):
            there = place(environment, placed.file, ("security_groups", at, "ingress"))
            yield f"security group {group.name} drops SSH ({there}); add tcp port {SSH_PORT} there, or write false"


def _slurm(environment: Environment) -> Iterator[tuple[PlacedCluster, SlurmSpec, DataPath]]:
    """Yield the Slurm clusters with their paths."""
    for placed in clusters(environment):
        if placed.cluster.slurm is not None:
            yield placed, placed.cluster.slurm, (*placed.path, "slurm")


def _pools(environment: Environment) -> Iterator[tuple[PlacedCluster, SlurmSpec, int, NodePoolSpec]]:
    """Yield the pools of partitions, with their Slurm cluster and the index in their tenant cluster."""
    for placed, spec, _ in _slurm(environment):
        for at, pool in enumerate(placed.cluster.pools):
            if pool.name in spec.pools:
                yield placed, spec, at, pool


def _classes(spec: SlurmSpec) -> Iterator[tuple[DataPath, str]]:
    """Yield the storage classes of Slurm's volumes, with their paths."""
    yield ("controller", "storage_class"), spec.controller.storage_class
    if spec.database_server:
        yield ("accounting", "server", "storage_class"), spec.database_server.storage_class
    for at, volume in enumerate(spec.volumes):
        yield ("volumes", at, "storage_class"), volume.storage_class


def _keeps(entry: StorageClassSpec, *, shared: bool) -> bool:
    """Return whether volumes of a class outlive nodes and, if ``shared``, are mounted by many nodes."""
    return entry.durable and not entry.LOCAL and (entry.shared or not shared)


RULES = Rules(
    references=(partition_pools, volume_classes),
    data=(add_on, retired_partitions, durable_state, locks, unused_locks, whole_gpus, gpu_check, node_names, logins),
)
