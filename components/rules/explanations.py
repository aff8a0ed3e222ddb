"""Causes and consequences among problems of rules.

``check`` reports only the cause: its fix removes the consequences, whose own remedies would be misleading. A rule whose
problems follow from another rule declares that in ``EXPLAINS`` and nowhere else. The rows are not beside the rules,
because causes and consequences are in different rooms, which do not import each other.

Two things are not consequences: a rule that does not run because its input is unusable (the stages of `checks`), and a
rule that judges the data from before an edit (`shared_values`).
"""

import re
from collections.abc import Callable

from components.rules import causes, references
from components.rules.add_ons import add_ons, charts
from components.rules.control_planes import control_planes
from components.rules.hosts import inventory
from components.rules.network import (
    dual_stack,
    fabrics,
    isolation,
    more_prefixes,
    node_addresses,
    tenant_network,
    vpc_clusters,
)
from components.rules.pools import images, node_pool
from components.rules.region import (
    capacity,
    contracts,
    digests,
    dns,
    lock_pins,
    locks,
    logs,
    names,
    observability,
    registry,
    version_limits,
)
from components.rules.rule import Rule, rule_name
from components.rules.storage import buckets, storage
from components.rules.tables import ALL
from components.rules.workloads import endpoint_services, queues, serving, slurm, slurm_backups
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.problems import Problem
from components.specs.region.policy import RuleId
from components.specs.struct import Struct

_POOL_NAMES = re.compile(r"\.pools\[\d+\]$|\.pool$|\.(nodes|borrow)\.[^.]+$")
"""Paths of names of pools in partitions, endpoints and queues."""


class Explains(Struct):
    """While one of ``causes`` reports a problem, those of ``consequences`` only follow from it."""

    causes: tuple[Rule, ...]
    consequences: tuple[Rule, ...]
    because: str
    """Reason that `jacquard explain` prints for each consequence."""
    of: Callable[[Problem], bool] = lambda _: True
    """Problems of ``causes`` that explain others."""
    where: Callable[[Problem], bool] = lambda _: True
    """Problems of ``consequences`` that are explained."""
    same_place: bool = False
    """Whether a problem explains only those at its own file and path."""
    same_file: bool = False
    """Whether a problem explains only those in its own file."""
    misspelt: bool = False
    """Whether a problem explains only those about an undeclared name that its own name was meant to be: the list of
    one has the other."""


EXPLAINS = (
    Explains(
        causes=(inventory.hall_files, causes.removed_rows, *ALL.edits),
        consequences=causes.MISSING_HOSTS,
        because="the required hosts were removed, changed or in another pool",
    ),
    Explains(
        causes=(inventory.hall_files,),
        consequences=(causes.removed_rows, causes.swapped_pools),
        because="the whole file is missing, no row was edited",
    ),
    Explains(
        causes=(inventory.host_duplicates,),
        consequences=(causes.removed_rows,),
        because="the row of the missing host may have the name of the other one",
    ),
    Explains(
        causes=(inventory.halls,),
        consequences=(inventory.host_duplicates,),
        same_file=True,
        because="no hall has these rows",
    ),
    Explains(
        causes=(inventory.halls, inventory.host_duplicates),
        of=lambda problem: not problem.path,
        consequences=(inventory.racks, inventory.rack_sizes),
        same_file=True,
        because="the row is a copy, or belongs to no hall",
    ),
    Explains(
        causes=(*ALL.data, *ALL.blocking, fabrics.partitions),
        consequences=(locks.allocations,),
        where=lambda problem: problem.file in {ALLOCATIONS, IMAGE_PINS},
        because="jacquard allocate updates lock files as soon as it can run",
    ),
    Explains(
        causes=(locks.hand_edits,),
        consequences=(locks.unpaired,),
        because="an edited lock file does not match the other one",
    ),
    Explains(
        causes=(locks.hand_edits,),
        of=lambda problem: problem.file == ALLOCATIONS,
        consequences=(
            control_planes.kept,
            dual_stack.kept,
            more_prefixes.kept,
            more_prefixes.kinds,
            isolation.isolation_kept,
            locks.allocations,
            tenant_network.vpc_sizes,
            vpc_clusters.kept,
        ),
        because="the data are compared with a lock file that was edited",
    ),
    Explains(
        causes=(tenant_network.vpc_sizes,),
        consequences=(
            capacity.vpc_capacity,
            dual_stack.sizes,
            more_prefixes.sizes,
            tenant_network.service_prefixes,
        ),
        same_place=True,
        because="sizes are immutable, so it is irrelevant whether another one fits",
    ),
    Explains(
        causes=(locks.numbers,),
        of=lambda problem: problem.path == "networks.control_plane_vips",
        consequences=(registry.address, observability.address),
        because="the network of these addresses was moved, and other assigned addresses are outside it too",
    ),
    Explains(
        causes=(inventory.rack_sizes,),
        consequences=(queues.quotas,),
        because="the number of nodes of a rack determines the size of a pool",
    ),
    Explains(
        causes=(slurm.partition_pools,),
        consequences=(slurm.unused_locks,),
        because="the partition may mean the pool that no partition lists",
    ),
    Explains(
        causes=(names.list_duplicates,),
        consequences=(buckets.one_owner,),
        same_place=True,
        because="the name of a bucket is also its default name in the store",
    ),
    Explains(
        causes=(names.list_duplicates,),
        of=lambda problem: problem.path.startswith("buckets["),
        consequences=(endpoint_services.buckets, slurm_backups.backup_buckets),
        because="one of the buckets with the same name has the keys",
    ),
    Explains(
        causes=(node_pool.endings,),
        consequences=(slurm.partition_pools, queues.names, serving.names),
        where=lambda problem: _POOL_NAMES.search(problem.path) is not None,
        because="the removed pool is restored with its name",
    ),
    Explains(
        causes=(serving.queued,),
        consequences=(serving.pool_room,),
        same_place=True,
        because="the quota of a team is at most the pool, and both limit the same groups",
    ),
    Explains(
        causes=(version_limits.dpu_images,),
        consequences=(images.doca,),
        because="DPUs need an image that DPF supports, and other images are compared with that one",
    ),
    Explains(
        causes=(digests.pinned,),
        of=lambda problem: problem.path.endswith(".version"),
        consequences=(lock_pins.pins, charts.pins),
        where=lambda problem: problem.rule in {rule_name(lock_pins.pins), rule_name(charts.pins)},
        because="an image or chart lost its version by an edit, so no promotion is needed",
    ),
    Explains(
        causes=(control_planes.endings,),
        consequences=(locks.allocations, references.vm_references, buckets.references),
        where=lambda problem: problem.rule == rule_name(locks.allocations) or problem.path.endswith("cluster"),
        because="the cluster keeps its name, and its hosts are released in a second step",
    ),
    Explains(
        causes=(node_pool.instance_types,),
        consequences=(locks.allocations, add_ons.add_on_needs),
        because="the pool keeps its instance type and its hosts",
    ),
    Explains(
        causes=(add_ons.add_on_references,),
        consequences=(add_ons.add_on_needs, add_ons.networks),
        because="an unknown name may be that of a required add-on",
    ),
    Explains(
        causes=(contracts.autoscaling,),
        consequences=(
            capacity.dedicated_data_stores,
            capacity.vpc_capacity,
            contracts.contracted_nodes,
            locks.allocations,
        ),
        same_file=True,
        because="the pool can never have so many nodes",
    ),
    Explains(
        causes=(contracts.autoscaling,),
        consequences=(
            capacity.cluster_size,
            capacity.controller_load,
            capacity.controllers,
            capacity.data_store_capacity,
            logs.size,
            observability.size,
        ),
        because="the inventory limits the nodes of all pools",
    ),
    Explains(
        causes=(vpc_clusters.references,),
        consequences=(more_prefixes.kinds, vpc_clusters.kept, vpc_clusters.kinds),
        because="a prefix of an unknown cluster may be meant for the cluster that lacks it",
    ),
    Explains(
        causes=(tenant_network.unusable,),
        consequences=(tenant_network.networks_disjoint,),
        same_place=True,
        because="the network also overlaps networks without host addresses",
    ),
    Explains(
        causes=(tenant_network.unusable, tenant_network.networks_disjoint),
        consequences=(dns.name_server, node_addresses.services, registry.address),
        because="the address is in two networks of the region, and only one of them is meant",
    ),
    Explains(
        causes=(references.cluster_references,),
        consequences=(references.vm_references,),
        misspelt=True,
        because="the misspelt class of the cluster is the one that is used",
    ),
    Explains(
        causes=(references.cluster_references,),
        consequences=(control_planes.backend_versions,),
        same_place=True,
        because="the misspelt version is not the one that is meant",
    ),
    Explains(
        causes=(storage.encrypted_disks,),
        consequences=(storage.volume_groups,),
        same_place=True,
        because="no image of the nodes serves the class",
    ),
    Explains(
        causes=(control_planes.kept, node_pool.instance_types, causes.swapped_pools),
        consequences=(lock_pins.pins,),
        where=lambda problem: problem.rule != RuleId.IMAGE_OUTSIDE_CHANNEL,
        because="the image fits the value that nodes keep, so no promotion is needed",
    ),
)
"""All causes and consequences. A problem explains others even if it follows from another one itself. Problems of rules
with an advisory period explain no others, because a warning must not hide an error."""
