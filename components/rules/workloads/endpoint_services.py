"""Rules about the services of endpoints: addresses and names that clients reach, and the sources of weights."""

from collections.abc import Iterator

from components.inputs.workloads.serving import host_name
from components.lookups.add_ons import gives
from components.lookups.pools import place, problem
from components.render.workloads.slurm import LOGIN
from components.rules.rule import Rules
from components.rules.storage.bucket_keys import lacking_keys
from components.rules.workloads.serving import endpoints, endpoints_of, with_serving
from components.specs.add_ons.add_ons import Capability
from components.specs.base import GIBIBYTE, bytes_of
from components.specs.environment import Environment
from components.specs.reading.problems import Problem, one_of
from components.specs.storage.buckets import Rights
from components.specs.workloads.serving import Exposure


def load_balancers(environment: Environment) -> Iterator[Problem]:
    """Report endpoints that never get a load balancer address: without an add-on for it, or above a quota."""
    for placed, _, _ in with_serving(environment):
        balanced = [one for one in endpoints_of(environment, placed) if one.spec.exposure is Exposure.LOAD_BALANCER]
        if balanced and not gives(environment, placed, Capability.LOAD_BALANCERS):
            text = "requires an add-on that provides load-balancers; add metallb to add_ons, or write cluster"
            yield problem(environment, placed.file, (*balanced[0].path, "exposure"), text)
        for at, space in enumerate(placed.cluster.namespaces):
            most = space.quota.load_balancers if space.quota else None
            mine = [one for one in balanced if one.spec.namespace == space.name]
            if most is not None and len(mine) > most:
                there = place(environment, placed.file, (*placed.path, "namespaces", at))
                text = (
                    f"is load balancer {most + 1} of namespace {space.name}, whose quota allows {most} ({there}); raise"
                    " load_balancers there, or write cluster"
                )
                yield problem(environment, placed.file, (*mine[most].path, "exposure"), text)


def host_names(environment: Environment) -> Iterator[Problem]:
    """Report endpoints with the DNS name of a VM of the platform or of Slurm's login nodes."""
    for served in endpoints(environment):
        placed, name = served.placed, served.spec.name
        if host_name(environment, placed, served.spec) is None:
            continue
        vms, slurm = placed.tenant.vms, placed.cluster.slurm
        here = vms is not None and vms.cluster == placed.cluster.name
        machines = [vm.name for vm in vms.platform if vm.public_ip] if vms and here else []
        holder = "a VM of the platform" if name in machines else ""
        if slurm is not None and slurm.login is not None and name == LOGIN:
            holder = "Slurm's login nodes"
        if holder:
            text = f"makes the DNS name of {holder}, which would resolve to both; rename it"
            yield problem(environment, placed.file, (*served.path, "name"), text)


def caches(environment: Environment) -> Iterator[Problem]:
    """Report caches that are not on the disks of the node that runs the pod, or larger than these disks."""
    known = {entry.name: entry for entry in environment.region.storage}
    for served in endpoints(environment):
        cache, pool = served.spec.cache, served.pool
        entry = known.get(cache.storage_class) if cache else None
        if cache is None or pool is None or entry is None or entry.name not in served.placed.cluster.storage:
            continue
        path, kind = (*served.path, "cache"), environment.instance_types.by_name[pool.instance_type]
        if not entry.LOCAL:
            local = [name for name in served.placed.cluster.storage if name in known and known[name].LOCAL]
            remedy = f"write {one_of(local)}" if local else "offer a class on local disks, or remove cache"
            text = f"'{entry.name}' is on a storage system, and all pods would load weights from there; {remedy}"
            yield problem(environment, served.placed.file, (*path, "storage_class"), text)
        elif not kind.nvme_disks:
            text = f"requires local disks, but nodes of {kind.name} have none (nvme_disks is 0); remove it"
            yield problem(environment, served.placed.file, path, text)
        elif kind.nvme_disk_size:
            most = kind.nvme_disks * (bytes_of(kind.nvme_disk_size) // GIBIBYTE) - entry.reserved_gib
            if bytes_of(cache.size) > most * GIBIBYTE:
                text = f"{cache.size} is more than the disks of {kind.name} have for volumes; write {most}Gi or less"
                yield problem(environment, served.placed.file, (*path, "size"), text)


def buckets(environment: Environment) -> Iterator[Problem]:
    """Report endpoints that load weights from a bucket without keys in their namespace, or with keys that only write.

    Undeclared names are left to `serving.names` and to rules of buckets: they may mean the right ones.
    """
    for served in endpoints(environment):
        placed, spec = served.placed, served.spec
        if spec.bucket is None or spec.namespace not in {space.name for space in placed.cluster.namespaces}:
            continue
        needed = (Rights.READ, Rights.READ_WRITE)
        if text := lacking_keys(environment, placed, spec.bucket, spec.namespace, needed):
            yield problem(environment, placed.file, (*served.path, "bucket"), text)


RULES = Rules(data=(load_balancers, host_names, caches, buckets))
