"""Counts of nodes agree: Slurm, quotas of Kueue, pools and contracts, for drawn data that rules accept or reject."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.inputs.workloads import slurm as slurm_inputs
from components.inputs.workloads.queues import of_cluster
from components.lookups.pools import PlacedCluster, clusters, most_nodes
from components.render.workloads.slurm_pool import LOCK
from components.rules.region.contracts import contracted_nodes
from components.rules.workloads import queues as rules
from components.rules.workloads import slurm as slurm_rules
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec, TaintEffect, TaintSpec
from components.specs.region.tenant import ContractSpec
from components.specs.workloads.queues import QueuesSpec
from components.specs.workloads.slurm import SlurmSpec
from tests.support.data.small_region import NODE_TYPE, changed, nodes, small_region, tenant

GPU = "nvidia.com/gpu"
SIZES = {"left": 3, "middle": 4, "right": 5}
"""Nodes of the pools that Slurm and queues use."""
_SUFFIXES = {"k": 1000, "M": 1000**2}


@cache
def region() -> Environment:
    """Return a region whose cluster has a pool with a range, and one of a fixed size."""
    grown = nodes(4, name="grown", autoscaling=True, min_nodes=1, max_nodes=9)
    return changed(small_region(), tenants=(tenant("one", grown, nodes(7, name="fixed")),))


def counts(most: int) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(st.sampled_from(["grown", "fixed"]), st.integers(1, most), max_size=2)


@st.composite
def drawn(draw: st.DrawFn) -> QueuesSpec:
    teams: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 4))):
        owned, borrow = draw(counts(9)), draw(counts(4))
        lend = {pool: draw(st.integers(0, count)) for pool, count in owned.items() if draw(st.booleans())}
        if owned or borrow:
            name = f"team-{number}"
            teams.append({"name": name, "namespaces": [name], "nodes": owned, "borrow": borrow, "lend": lend})
    teams = teams or [{"name": "one", "namespaces": ["one"], "nodes": {"fixed": 1}}]
    return QueuesSpec.model_validate({"teams": teams})


def with_queues(spec: QueuesSpec) -> tuple[Environment, PlacedCluster]:
    [one] = region().tenants
    [cluster] = one.clusters
    environment = changed(region(), tenants=(changed(one, clusters=(changed(cluster, queues=spec),)),))
    [placed] = clusters(environment)
    return environment, placed


def gpus(quantity: str) -> int:
    suffix = quantity[-1]
    return int(quantity[:-1]) * _SUFFIXES[suffix] if suffix in _SUFFIXES else int(quantity)


def limits(environment: Environment, placed: PlacedCluster) -> dict[str, Counter[tuple[str, str]]]:
    """Return each limit of GPUs by team and pool, as rendered."""
    [made] = of_cluster(environment, placed)
    pools = {
        item.name: item.body["spec"]["nodeLabels"]["node-restriction.kubernetes.io/pool"]
        for item in made.render()
        if item.kind == "ResourceFlavor"
    }
    found: dict[str, Counter[tuple[str, str]]] = {}
    for queue in (item for item in made.render() if item.kind == "ClusterQueue"):
        for flavor in queue.body["spec"]["resourceGroups"][0]["flavors"]:
            [quota] = [one for one in flavor["resources"] if one["name"] == GPU]
            for limit, amount in quota.items():
                if limit != "name":
                    found.setdefault(limit, Counter())[queue.name, pools[flavor["name"]]] = gpus(amount)
    return found


@given(spec=drawn())
def test_quotas_that_rules_accept_are_within_pools_and_contract_and_others_are_not(spec: QueuesSpec) -> None:
    environment, placed = with_queues(spec)
    quotas = limits(environment, placed)["nominalQuota"]
    most = {pool.name: most_nodes(environment, pool) for pool in placed.cluster.pools}
    kinds = {pool.name: environment.instance_types.by_name[pool.instance_type] for pool in placed.cluster.pools}
    owned: Counter[str] = Counter()
    for (_, pool), amount in quotas.items():
        gpu = kinds[pool].gpu
        assert gpu is not None
        assert amount % gpu.count == 0
        owned[pool] += amount // gpu.count

    accepted = not list(rules.quotas(environment))
    assert accepted is all(count <= most[pool] for pool, count in owned.items())
    assert owned == sum((Counter(team.nodes) for team in spec.teams), Counter())


@given(spec=drawn())
def test_rules_accept_borrowing_limits_only_within_the_quotas_of_other_queues(spec: QueuesSpec) -> None:
    environment, placed = with_queues(spec)
    found = limits(environment, placed)
    lent = {**found["nominalQuota"], **found.get("lendingLimit", {})}

    possible = all(
        amount <= sum(other for (owner, place), other in lent.items() if place == pool and owner != team)
        for (team, pool), amount in found["borrowingLimit"].items()
    )
    assert (not list(rules.borrowed(environment))) is possible


def of_slurm(name: str) -> NodePoolSpec:
    pool: NodePoolSpec = nodes(SIZES[name], name=name)
    return changed(pool, taints=(TaintSpec(key=LOCK, effect=TaintEffect.NO_EXECUTE),))


@given(
    slurm=st.sets(st.sampled_from(sorted(SIZES)), min_size=1),
    queued=st.dictionaries(st.sampled_from(sorted(SIZES)), st.integers(1, 5), min_size=1),
    contracted=st.integers(10, 14),
)
def test_a_node_is_counted_by_one_platform_and_within_the_contract(
    slurm: set[str], queued: dict[str, int], contracted: int
) -> None:
    pools = (of_slurm(name) if name in slurm else nodes(size, name=name) for name, size in SIZES.items())
    contract = ContractSpec(instance_type=NODE_TYPE, nodes=contracted)
    one = changed(tenant("one", *pools), contract=(contract,))
    partitions = [{"name": f"of-{name}", "pools": [name]} for name in sorted(slurm)]
    both = {
        "slurm": SlurmSpec.model_validate({"partitions": partitions, "controller": {"storage_class": "shared"}}),
        "queues": QueuesSpec.model_validate({"teams": [{"name": "one", "namespaces": ["one"], "nodes": queued}]}),
    }
    environment = changed(region(), tenants=(changed(one, clusters=(changed(one.clusters[0], **both),)),))
    [placed] = clusters(environment)

    [made] = slurm_inputs.of_cluster(environment, placed)
    sets = {item.name: item.body["spec"]["replicas"] for item in made.render() if item.kind == "NodeSet"}
    assert sets == {name: SIZES[name] for name in slurm}

    judged = (slurm_rules.locks, slurm_rules.unused_locks, rules.usable_pools, rules.quotas, contracted_nodes)
    accepted = not any(list(rule(environment)) for rule in judged)
    fits = all(count <= SIZES[name] for name, count in queued.items()) and sum(SIZES.values()) <= contracted
    assert accepted is (fits and not slurm & {*queued})
    if accepted:
        quotas = limits(environment, placed)["nominalQuota"]
        of_queues = {pool: amount // 8 for (_, pool), amount in quotas.items()}
        assert of_queues == queued
        used = sum((Counter(sets), Counter(of_queues)), Counter[str]())
        assert all(used[name] <= size for name, size in SIZES.items())
        assert sum(used.values()) <= contracted
