"""Effect of each pool field's change on the objects of Cluster API's controller, compared with the documented table.

No machine becomes ready, so no rollout completes: the previous MachineSet remains, without machines, and is reused.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from components.lookups.effects.effect import Effect
from components.render import labels as keys
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from tests.support.api_servers.cluster_api import ManagementCluster, management_cluster
from tests.support.api_servers.driven_pools import Pools, Seen, content, effect
from tests.support.changes.pool_changes import (
    CHANGES,
    before_and_after,
    other_image,
    other_pods,
    pool,
    region_with_pool,
    rendered,
    spelt,
)
from tests.support.changes.pool_effects import FIELDS, PROMOTED, REVERTED, WITH_PROMOTION

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

AT_ONCE = {"rollout": {"max_unavailable": 2}}
"""Both nodes at once, so that a rollout replaces all of them although none becomes available."""
NOT_YET = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
ORDERS = {"min_nodes": "min", "max_nodes": "max", "autoscaling": "max"}
"""Fields that bound the cluster autoscaler, and the bound that it scales to, which depends on its load."""
AT_MACHINES: dict[str, dict[str, Any]] = {
    "role": {f"labels/{keys.NODE_ROLE}": "system"},
    "labels": {"labels/node.cluster.x-k8s.io/workload": "training"},
    "annotations": {"annotations/acme.example/cost-centre": "42"},
    "rollout.drain_timeout_seconds": {"spec/deletion/nodeDrainTimeoutSeconds": 600},
    "rollout.detach_timeout_seconds": {"spec/deletion/nodeVolumeDetachTimeoutSeconds": 1800},
    "scale_down": {"spec/deletion/nodeDrainTimeoutSeconds": None},
    "rollout.strategy": {"spec/deletion/nodeDrainTimeoutSeconds": None},
    "health.burn_in": {"spec/readinessGates": [{"conditionType": "Tested"}]},
    "health.min_ready_seconds": {"spec/minReadySeconds": 300},
}
"""Fields whose change reaches running Machines, and the Machine field that changes."""
AT_DEPLOYMENTS = ("rollout.max_unavailable", "rollout.surge", "rollout.paused", "health.max_replacements")
"""Fields that the controller reads from the MachineDeployment; they take effect in the next rollout or repair."""
BESIDE = {
    "health.node_startup_timeout_seconds": "MachineHealthCheck",
    "health.unhealthy_timeout_seconds": "MachineHealthCheck",
    "health.max_unhealthy": "MachineHealthCheck",
}
"""Fields of other objects than the MachineDeployment, and their kind."""
NOWHERE = [field for field, word in WITH_PROMOTION.items() if word is Effect.NONE]
SIZES = {
    "nodes": (2, 3, 2),
    "racks": (3, 6, 3),
    "min_nodes": (1, 2, 1),
    "max_nodes": (3, 2, 3),
    "autoscaling": (2, 3, 2),
    "retire": (2, 0, 2),
}
"""Number of Machines before the change, after it, and after its revert."""
TEMPLATE_HASH = "machine-template-hash"
TENANTS = {case: f"t{number}" for number, case in enumerate((*FIELDS, "later", "pin", "max_pods"))}
"""Tenant of the pool, by change. The last three: a future ``rollout.after``, the pin, pods per node."""


class History(NamedTuple):
    """A pool before a change, after it, and after its revert."""

    before: Seen
    after: Seen
    back: Seen


@pytest.fixture(scope="module")
def management(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagementCluster]:
    with management_cluster(tmp_path_factory.mktemp("pool-effects")) as cluster, cluster.controller(webhooks=True):
        yield cluster


@pytest.fixture(scope="module")
def histories(management: ManagementCluster) -> dict[str, History]:
    """Observed histories of all pools, which run in parallel."""
    pools, cases = Pools(management.api), changes()

    def declared(at: int) -> dict[str, Seen]:
        pools.declare({TENANTS[case]: rendered(both[at]) for case, both in cases.items()})
        for field, end in ORDERS.items():
            pools.autoscale(TENANTS[field], end)
        return pools.settled()

    before = declared(0)
    cases["rollout.after"] = restart(TENANTS["rollout.after"], all_created(before[TENANTS["rollout.after"]]))
    after = declared(1)
    back = declared(0)
    return {case: History(before[name], after[name], back[name]) for case, name in TENANTS.items()}


def changes() -> dict[str, tuple[Environment, Environment]]:
    """Return the region before and after each change; ``rollout.after`` is set to a future time."""
    found = {
        field: before_and_after(field, TENANTS[field], **(AT_ONCE if field in PROMOTED else {})) for field in FIELDS
    }
    for case in ("rollout.after", "later"):
        found[case] = restart(TENANTS[case], NOT_YET)
    for case, change in {"pin": other_image, "max_pods": other_pods}.items():
        before = region_with_pool(pool(**AT_ONCE), TENANTS[case])
        found[case] = (before, change(before))
    return found


def restart(tenant: str, moment: dt.datetime) -> tuple[Environment, Environment]:
    """Return the region before and after a restart of a pool at ``moment``."""
    return before_and_after("rollout.after", tenant, value=moment, **AT_ONCE)


def all_created(pool: Seen) -> dt.datetime:
    """Return the earliest time after the creation of all MachineSets of a pool, without fractions of seconds."""
    times = (dt.datetime.fromisoformat(body["metadata"]["creationTimestamp"]) for body in pool.sets.values())
    return max(times) + dt.timedelta(seconds=1)


def test_each_field_of_a_pool_is_changed_here() -> None:
    assert set(FIELDS) == set(spelt(NodePoolSpec)) == set(CHANGES)
    by_word = {word: {field for field in WITH_PROMOTION if WITH_PROMOTION[field] is word} for word in Effect}
    assert {*AT_MACHINES, *AT_DEPLOYMENTS, *BESIDE} == by_word[Effect.IN_PLACE]
    assert {*SIZES} == by_word[Effect.SCALES]


@pytest.mark.parametrize("field", FIELDS)
def test_the_controller_acts_as_in_the_table(field: str, histories: dict[str, History]) -> None:
    before, after, back = histories[field]

    assert effect(before, after) is WITH_PROMOTION[field]
    assert effect(after, back) is REVERTED[field]


@pytest.mark.parametrize("case", ["pin", "max_pods"])
def test_changes_outside_the_pool_fields_replace_its_nodes(case: str, histories: dict[str, History]) -> None:
    before, after, back = histories[case]

    assert effect(before, after) is effect(after, back) is Effect.REPLACED


@pytest.mark.parametrize("case", ["image", "taints", "pin", "max_pods"])
def test_a_previous_template_reuses_its_machine_set(case: str, histories: dict[str, History]) -> None:
    before, after, back = histories[case]

    [first], [second] = before.current.values(), after.current.values()
    assert first != second
    assert [{uid: body["spec"]["replicas"] for uid, body in seen.sets.items()} for seen in (before, after, back)] == [
        {first: 2},
        {first: 0, second: 2},
        {first: 2, second: 0},
    ]
    hashes = {body["spec"]["template"]["metadata"]["labels"][TEMPLATE_HASH] for body in after.sets.values()}
    assert len(hashes) == len(after.sets)
    assert back.current == before.current


def test_a_future_restart_replaces_no_node(histories: dict[str, History]) -> None:
    before, after, back = histories["later"]

    assert effect(before, after) is effect(after, back) is Effect.IN_PLACE
    assert before.content("machines") == after.content("machines") == back.content("machines")


@pytest.mark.parametrize("field", SIZES)
def test_a_pool_of_another_size_keeps_its_machine_sets(field: str, histories: dict[str, History]) -> None:
    history = histories[field]
    groups = [seen.current.keys() for seen in history]
    shared = set.intersection(*map(set, groups))

    assert tuple(len(seen.machines) for seen in history) == SIZES[field]
    assert all(len(seen.sets) == len(names) for seen, names in zip(history, groups, strict=True))
    assert len({tuple(seen.current[name] for name in sorted(shared)) for seen in history}) == 1
    for name in shared:
        specs = [seen.sets[seen.current[name]]["spec"]["template"]["spec"] for seen in history]
        assert specs[0] == specs[1] == specs[2]


@pytest.mark.parametrize("field", AT_MACHINES)
def test_running_machines_get_the_new_value(field: str, histories: dict[str, History]) -> None:
    before, after, back = histories[field]

    assert before.current == after.current == back.current
    assert len(before.machines) == 2
    for uid, machine in before.machines.items():
        was, now = flat(content(machine)), flat(content(after.machines[uid]))
        assert {path: now.get(path) for path in was | now if was.get(path) != now.get(path)} == AT_MACHINES[field]
    assert back.content("machines") == before.content("machines")


@pytest.mark.parametrize("field", [*AT_DEPLOYMENTS, *BESIDE, *NOWHERE])
def test_other_fields_change_neither_machines_nor_templates(field: str, histories: dict[str, History]) -> None:
    before, after, back = histories[field]

    assert before.current == after.current == back.current
    assert before.content("machines") == after.content("machines") == back.content("machines")
    templates = [{uid: body["spec"]["template"] for uid, body in seen.sets.items()} for seen in (before, after, back)]
    assert templates[0] == templates[1] == templates[2]


@pytest.mark.parametrize("field", [*BESIDE, *NOWHERE])
def test_changes_of_other_objects_keep_the_deployment_and_its_sets(field: str, histories: dict[str, History]) -> None:
    before, after, back = histories[field]

    for part in ("deployments", "sets"):
        assert before.content(part) == after.content(part) == back.content(part)
    was, now = before.content("declared"), after.content("declared")
    other = {key.split("/")[3] for key in was | now if was.get(key) != now.get(key)}
    assert other == ({BESIDE[field]} if field in BESIDE else set())
    assert back.content("declared") == was


def test_the_autoscaler_starts_at_the_current_size_and_nodes_applies_again_without_it(
    management: ManagementCluster,
) -> None:
    pools, name = Pools(management.api), "handed-over"
    fixed, bounded = (rendered(environment) for environment in before_and_after("autoscaling", name))
    pools.declare({name: fixed})

    pools.declare({name: bounded})
    assert pools.replicas(name) == [2]

    pools.autoscale(name, "max")
    pools.declare({name: bounded})
    assert pools.replicas(name) == [3]

    pools.declare({name: fixed})
    assert pools.replicas(name) == [2]


def flat(content: Any, path: str = "") -> dict[str, Any]:
    """Return all values of nested mappings by path."""
    if not isinstance(content, dict):
        return {path: content}
    parts = (flat(value, f"{path}/{key}" if path else key) for key, value in content.items())
    return {key: value for part in parts for key, value in part.items()}
