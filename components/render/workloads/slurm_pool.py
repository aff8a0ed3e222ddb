"""Pools of a Slurm cluster: their places in the network, and the lines about them in Slurm's configuration.

Slurm learns the place of a node from the operator, which reads an annotation of the Kubernetes node
(SLURMOP:internal/controller/nodeset/nodeset_sync.go, syncSlurmTopology). The switches and blocks that annotations name
are in ``topology.yaml``, without nodes: Slurm accepts empty leaf switches, and empty blocks if the size of blocks is
set (SLURM:src/plugins/topology/tree/switch_record.c, src/plugins/topology/block/block_record.c).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.node_pool import NodePoolSpec, TaintEffect
from components.specs.struct import Struct, field
from components.specs.workloads.slurm import SlurmPartitionSpec

CHART = "slurm-operator"
"""Chart of the operator."""
NAMESPACE = "slurm-cluster"
"""Namespace of the objects of a Slurm cluster, and of the Secrets that they refer to."""
LOCK = "slinky.slurm.net/slurm"
"""Key of the taint by which a node belongs to Slurm, in the example of SLURMOP:docs/usage/workload-isolation.md. The
operator removes taints with its own key, ``nodeset.slinky.slurm.net/worker``, from nodes without its pods."""
HARD = (TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE)
"""Effects of the taint that keep pods of Kubernetes off a node."""
TREE, NVLINK = "leaves", "nvlink"
"""Names of the topologies: leaf switches of all nodes, and racks that are NVLink domains."""
_ROOT = "fabric"
_MOST_NODES = 1024
"""Number of nodes for which the operator sets ``MaxNodeCount``
(SLURMOP:internal/builder/controllerbuilder/controller_config.go). A later line of slurm.conf overrides it."""


class SlurmPool(Struct):
    """Pool whose nodes are nodes of Slurm."""

    spec: NodePoolSpec
    kind: InstanceType
    nodes: int
    """Number of running nodes, without spares."""
    leaves: tuple[str, ...]
    """Leaf switches of the pool's hosts, including spares, sorted."""
    racks: tuple[str, ...] = ()
    """NVLink domains of the pool's hosts, sorted; empty for nodes that fail individually."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Resources with which a pod gets all fabric ports of its node."""
    networks: tuple[str, ...] = ()
    """Network attachments of these ports."""
    host_network: bool = False
    """Whether the ports are only in the network of the node."""

    @property
    def gres(self) -> str:
        """Return the GPUs of a node in Slurm's notation, such as ``gpu:h100:8``; empty without GPUs.

        The type is a part of the name that Slurm detects, such as ``nvidia_h100_80gb_hbm3``.
        """
        gpu = self.kind.gpu
        return f"gpu:{gpu.model.partition('-')[0]}:{gpu.count}" if gpu else ""


def topology_file(pools: Iterable[SlurmPool]) -> str:
    """Return ``topology.yaml``: a tree of the leaf switches, and a block for each NVLink domain."""
    pools = tuple(pools)
    leaves = sorted({leaf for pool in pools for leaf in pool.leaves})
    root = {"switch": _ROOT, "children": ",".join(leaves)}
    topologies: list[dict[str, Any]] = [
        {
            "topology": TREE,
            "cluster_default": True,
            "tree": {"switches": [root, *({"switch": leaf} for leaf in leaves)]},
        }
    ]
    linked = [pool for pool in pools if pool.racks]
    if linked:
        size = min(pool.nodes // len(pool.racks) for pool in linked) or 1
        racks = sorted({rack for pool in linked for rack in pool.racks})
        blocks = {"block_sizes": [size], "blocks": [{"block": rack} for rack in racks]}
        topologies.append({"topology": NVLINK, "cluster_default": False, "block": blocks})
    return yaml.safe_dump(topologies, sort_keys=False, width=4096, explicit_start=True)


def partition_lines(partitions: Iterable[SlurmPartitionSpec], pools: Mapping[str, SlurmPool]) -> str:
    """Return the lines of slurm.conf about partitions, and about the number of nodes if it is not the operator's.

    The operator defines the node set of each pool. A node without a state is up; one pod of Slurm is on each node.
    """
    nodes = sum(pool.nodes for pool in pools.values())
    first = [f"MaxNodeCount={nodes}"] if nodes > _MOST_NODES else []
    return "\n".join([*first, *(_line(partition, pools) for partition in partitions)]) + "\n"


def _line(partition: SlurmPartitionSpec, pools: Mapping[str, SlurmPool]) -> str:
    linked = all(pools[name].racks for name in partition.pools)
    fields = {
        "PartitionName": partition.name,
        "Nodes": ",".join(partition.pools),
        "Default": "YES" if partition.default else "NO",
        "MaxTime": "UNLIMITED" if partition.max_hours is None else f"{partition.max_hours}:00:00",
        "PriorityTier": partition.priority,
        "State": "UP",
        "Topology": NVLINK if linked else TREE,
    }
    return " ".join(f"{key}={value}" for key, value in fields.items())
