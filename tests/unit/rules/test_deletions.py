"""Clusters and pools are deleted in two steps, so that their workloads are deleted first."""

from __future__ import annotations

from typing import Any

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import objects
from components.render.pools.node_pool import NodePoolInput
from components.rules.checks import check_data

ACME = "tenants/acme.yaml"


def test_a_cluster_ends_in_two_steps(laptop: Any) -> None:
    laptop.edit("tenants/globex.yaml", "    vpc: globex\n", "    vpc: globex\n    retire: true\n")
    laptop.allocate()
    retiring = laptop.load()
    made = [item for part in slices(retiring) for item in inputs(retiring, part)]
    pools = [item for item in made if isinstance(item, NodePoolInput) and item.cluster == "globex-lab"]
    [control_plane] = [item for item in made if isinstance(item, HostedControlPlaneInput) and item.name == "globex-lab"]
    rendered = [item for pool in pools for item in objects(pool.render())]
    replicas = [item.body["spec"]["replicas"] for item in rendered if item.kind == "MachineDeployment"]

    assert laptop.report() == ""
    assert set(replicas) == {0}
    assert "globex-lab/lab" in retiring.allocations.hosts.values()
    assert not control_plane.protected

    (laptop.folder / "tenants" / "globex.yaml").unlink()
    assert check_data(laptop.load()) == []
    laptop.allocate()
    ended = laptop.load()
    assert laptop.report() == ""
    assert "globex-lab/lab" not in ended.allocations.hosts.values()
    assert set(ended.image_pins.control_planes) == {"acme-train"}


def test_a_pool_ends_in_two_steps_and_its_hosts_can_then_go_to_one_of_another_name(laptop: Any) -> None:
    laptop.edit(ACME, "name: infer\n", "name: infer\n        retire: true\n")
    assert check_data(laptop.load()) == []
    laptop.allocate()
    retired = laptop.load().allocations

    assert laptop.report() == ""
    assert retired.groups["acme-train/infer/a03"].nodes == 0
    assert list(retired.hosts.values()).count("acme-train/infer") == 5

    laptop.edit(ACME, "name: infer\n        retire: true\n", "name: serve\n")
    assert check_data(laptop.load()) == []
    laptop.allocate()
    ended = laptop.load().allocations
    assert laptop.report() == ""
    assert ended.groups["acme-train/serve/a03"].nodes == 4
    assert {host for host, pool in ended.hosts.items() if pool == "acme-train/serve"} == {
        host for host, pool in retired.hosts.items() if pool == "acme-train/infer"
    }
