"""Steps that remove a host out of service from its pool, so that exactly the node of this host is deleted.

Cluster API decides which Machine is deleted: Machines with the annotation below come first, then unhealthy ones, then
the oldest (CAPI:internal/controllers/machineset/machineset_deletion_order.go). The data do not contain which Machine
uses a host, and no object of the library is a Machine, so the annotation is set by hand.
"""

from components.lookups.pools import inventory_file, place, pools
from components.render.backends import BARE_METAL
from components.specs.environment import Environment
from components.specs.keys import cluster_of

DELETE_FIRST = "cluster.x-k8s.io/delete-machine"
"""Annotation of Machines that Cluster API deletes first."""


def release_steps(environment: Environment, host: str, pool: str) -> tuple[str, ...]:
    """Return the steps after ``host``, which is out of service, until its row is removed.

    Args:
        environment: environment of the host.
        host: name of the host.
        pool: pool of the host, ``cluster/pool``.
    """
    placed, name = next(item for item in pools(environment) if item.key == pool), environment.name
    size = place(environment, placed.file, (*placed.path, "nodes" if placed.pool.racks is None else "racks"))
    cluster, hall = cluster_of(pool), next(row.hall for row in environment.hosts if row.host == host)
    find = BARE_METAL[environment.region.bare_metal.backend].machine_of_host.format(host=host, cluster=cluster)
    move = (
        f"to run the node on another host: kubectl -n {cluster} delete machine $machine; to remove the node: lower"
        f" {size}, run jacquard allocate {name} and jacquard up {name}"
    )
    return (
        f"jacquard up {name}; from then on no Machine claims {host}",
        f"machine=$({find}); if it is empty, no node runs on {host}: continue with step 5",
        f"kubectl -n {cluster} annotate machine $machine {DELETE_FIRST}=; else Cluster API deletes the oldest node",
        move,
        f"when no Machine uses {host}: jacquard allocate {name} --release-hosts {pool}, then jacquard up {name}",
        f"remove the row of {host} in {inventory_file(hall)}, then run jacquard up {name}",
    )
