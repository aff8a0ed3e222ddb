"""Counts of nodes agree: quotas of Kueue, pools and contracts, for drawn queues that rules accept or reject."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from small_region import changed, nodes, small_region, tenant

from components.inputs.workloads.queues import of_cluster
from components.lookups.pools import PlacedCluster, clusters, most_nodes
from components.rules.workloads import queues as rules
from components.specs.environment import Environment
from components.specs.workloads.queues import QueuesSpec

GPU = "nvidia.com/gpu"
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
def test_borrowing_that_rules_accept_is_what_other_queues_lend(spec: QueuesSpec) -> None:
    environment, placed = with_queues(spec)
    found = limits(environment, placed)
    lent = {**found["nominalQuota"], **found.get("lendingLimit", {})}

    possible = all(
        amount <= sum(other for (owner, place), other in lent.items() if place == pool and owner != team)
        for (team, pool), amount in found["borrowingLimit"].items()
    )
    assert (not list(rules.borrowed(environment))) is possible
