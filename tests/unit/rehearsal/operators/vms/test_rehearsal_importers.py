"""CDI's pods, as rendered for the reference environments, fit the nodes that run VMs."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.manifests import everything
from components.lookups.pools import clusters, vm_pools
from components.lookups.scheduling import unscheduled
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec, PoolRole, TaintEffect, TaintSpec
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.vms.placement import scheduling_node
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.live_objects import obj

CRITICAL = TaintSpec(key="CriticalAddonsOnly", effect=TaintEffect.NO_SCHEDULE)


def node_of(item: Manifest, pool: NodePoolSpec) -> dict[str, Any]:
    """Return a node of a MachineDeployment; a system pool has the taint that `jacquard new` writes."""
    taints = [*pool.taints, *([CRITICAL] if pool.role is PoolRole.SYSTEM else [])]
    written = [taint.model_dump(mode="json") for taint in taints]
    labels = dict(item.body["spec"]["template"]["metadata"]["labels"], **{"kubernetes.io/os": "linux"})
    return dict(obj("v1", "Node", "n", {"taints": written}, namespace="", metadata={"labels": labels}))


def nodes_of(environment: Environment, items: list[Manifest], cluster: str) -> dict[str, dict[str, Any]]:
    """Return a node of each pool of ``cluster``, by pool."""
    pools = {
        pool.name: pool
        for placed in clusters(environment)
        for pool in placed.cluster.pools
        if placed.cluster.name == cluster
    }
    return {
        name: node_of(item, pools[name])
        for item in items
        if item.kind == "MachineDeployment" and item.namespace == cluster
        if (name := item.body["metadata"]["labels"]["jacquard.dev/pool"]) in pools
    }


@pytest.mark.parametrize("region", ["laptop", "lab", "eu-south-03a"])
def test_pods_that_fill_disks_fit_the_nodes_of_vms_and_services_the_system_pool(region: str) -> None:
    environment = load_environment(region, ENVIRONMENTS)
    items = [item for item in everything(environment) if isinstance(item, Manifest)]
    for placed in clusters(environment):
        vms, cluster = placed.tenant.vms, placed.cluster
        if not vms or vms.cluster != cluster.name:
            continue
        [cdi] = [item for item in items if item.kind == "CDI" and item.cluster == cluster.name]
        nodes = nodes_of(environment, items, cluster.name)
        system = {pool.name for pool in cluster.pools if pool.role is PoolRole.SYSTEM}
        expected = {"infra": system, "workload": {pool.name for pool in vm_pools(environment, vms, cluster)} | system}
        for part, names in expected.items():
            placement = cdi.body["spec"][part]
            fits = {name for name, node in nodes.items() if not unscheduled(placement, scheduling_node(node))}
            assert fits == names, (cluster.name, part)
