"""Replaced and simultaneously unavailable nodes: the impact compared with the actions of Cluster API's controllers.

The test counts Machines by uid in a watch of the API server. Hosts, boots and joins are simulated, and faster than on
hardware: the test proves which nodes the controllers replace together, but not how long each is unavailable, nor the
effect of drains.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from components.rollout.subject import DATA
from components.specs.reading.loader import load_environment
from tests.support.changes.unavailable_nodes import Group, Watch, machines
from tests.support.data.workbench import Workbench
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit
from tests.support.local_regions.pools_of_four import CLUSTER, NEXT, NODES, PAST, edit_pools, region_of
from tests.support.local_regions.region_contents import commit

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

TAINT = {"key": "workload", "value": "training", "effect": "NoSchedule"}


def rolled(**rollout: Any) -> dict[str, Any]:
    return {"rollout": rollout}


POOLS: Mapping[str, dict[str, Any]] = {
    "one": {},
    "two": rolled(max_unavailable=2),
    "three": rolled(max_unavailable=3),
    "nearly-all": rolled(max_unavailable="75%"),
    "quarter": rolled(max_unavailable="25%"),
    "half": rolled(max_unavailable="50%"),
    "most": rolled(max_unavailable="60%"),
    "idle": rolled(strategy="idle", max_unavailable=2),
    "settled": rolled(max_unavailable=2) | {"health": {"min_ready_seconds": 2}},
    "spare": rolled(surge=1) | {"spares": 1},
    "spares": rolled(surge=2) | {"spares": 2},
    "short": rolled(surge=2) | {"spares": 1},
    "both": rolled(strategy="idle", surge=1, max_unavailable=2) | {"spares": 1},
    "tainted": rolled(max_unavailable=2),
    "restarted": rolled(max_unavailable=2),
    "smaller": rolled(max_unavailable=2),
    "shrinks": {},
    "grows": {},
    "labelled": {},
    "behind": {},
}
"""Rollout settings of pools of four nodes, by name."""
NOT_PROMOTED = ("shrinks", "grows", "labelled", "behind")
BUMPED = [name for name in POOLS if name not in (*NOT_PROMOTED, "tainted", "restarted")]
"""Pools that get another image first."""
FIRST: Mapping[str, dict[str, Any]] = {
    "tainted": {"taints": [TAINT]},
    "smaller": {"nodes": 3},
    "shrinks": {"nodes": 3},
    "grows": {"nodes": 5},
    "labelled": {"labels": {"workload": "training"}},
    "behind": {"image": NEXT},
}
SECOND: Mapping[str, dict[str, Any]] = {
    "one": rolled(max_unavailable=3),
    "two": rolled(max_unavailable=1),
    "nearly-all": rolled(surge=1) | {"spares": 1},
    "spare": rolled(surge=0),
    "grows": rolled(max_unavailable="50%"),
    "smaller": {"nodes": 4},
}
"""Edits during a rollout."""


class NodeChanges(NamedTuple):
    """Number of deleted, created and unavailable nodes of a rollout group."""

    deleted: int
    created: int
    unavailable: int = 0


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Twenty pools of four nodes with allocated addresses."""
    with deleted_at_exit(region_of(tmp_path_factory.mktemp("pools-of-four"), POOLS, addresses=True)) as local:
        local.variables["JACQUARD_SPEED"] = "20"
        local.up()
        commit(local)
        yield local


def predicted(region: LocalRegion) -> dict[Group, NodeChanges]:
    """Return the change that ``jacquard impact`` predicts for each rollout group with affected nodes."""
    outcome = region.jacquard("impact", ENVIRONMENT, "--format", "json")
    assert outcome.code == 0, outcome.text
    [found] = json.loads(outcome.stdout)
    assert all(row["effect"] != "unknown" for row in found["rows"])
    expected: dict[Group, NodeChanges] = {}
    for row in (row for row in found["rows"] if row["falls_on"] == "nodes"):
        deleted, created, away = expected.get(row["part"], NodeChanges(0, 0))
        change = row["change"] or 0
        replaced = row["count"] if row["effect"] == "replaced" else 0
        most = row["roll"]["out_at_once"] if row["roll"] else 0
        one = NodeChanges(deleted + replaced + max(0, -change), created + replaced + max(0, change), away + most)
        if any(one):
            expected[row["part"]] = one
    return expected


def apply_and_count(region: LocalRegion, file: Path) -> tuple[dict[Group, NodeChanges], int]:
    """Apply the edits; return the change of each group, and the maximum of all unavailable nodes."""
    before, watch = machines(region), Watch(region, file)
    with watch.running():
        outcome = region.jacquard("up", ENVIRONMENT, "--format", "json")
        assert outcome.code == 0, outcome.text
    after = machines(region)
    assert json.loads(outcome.stdout)["status"]["settled"] is True
    moments = list(watch.unavailable({group: min(len(before[group]), len(after[group])) for group in before}))
    found = {
        group: NodeChanges(len(was - after[group]), len(after[group] - was), max(0, *(one[group] for one in moments)))
        for group, was in before.items()
    }
    most = max(sum(max(0, count) for count in one.values()) for one in moments)
    return {group: one for group, one in found.items() if any(one)}, most


def assert_as_predicted(region: LocalRegion, folder: Path) -> None:
    expected = predicted(region)
    found, most = apply_and_count(region, folder / "machines.json")
    commit(region)

    assert {group: one[:2] for group, one in found.items()} == {group: one[:2] for group, one in expected.items()}
    assert {
        group: one.unavailable for group, one in found.items() if one.unavailable > expected[group].unavailable
    } == {}
    # A node replaced on its own host must be unavailable first; otherwise the watch has missed events.
    assert [group for group, one in expected.items() if one.unavailable and not found[group].unavailable] == []
    assert 0 < most <= sum(one.unavailable for one in expected.values())


def promoted(region: LocalRegion, *pools: str) -> None:
    """Allocate and promote as users do, without one process for each pool."""
    bench = Workbench(region.environments, ENVIRONMENT)
    bench.allocate_checked()
    for name in pools:
        bench.promote(f"{CLUSTER}/{name}", DATA)


def now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def addresses(region: LocalRegion) -> dict[str, list[str]]:
    """Return the addresses with which nodes registered, by host."""
    return {
        node["spec"]["providerID"].split("/")[-2]: [
            one["address"] for one in node["status"]["addresses"] if one["type"] == "InternalIP"
        ]
        for node in region.api(CLUSTER).list("v1", "Node")
    }


def as_locked(region: LocalRegion) -> dict[str, list[str]]:
    """Return the addresses of the lock file for the hosts of the cluster's machines."""
    locked = load_environment(ENVIRONMENT, region.environments).allocations.addresses
    found = region.api().list("metal3.io/v1alpha1", "BareMetalHost", namespace=CLUSTER)
    names = [host["metadata"]["name"] for host in found if host["spec"].get("consumerRef")]
    return {name: [str(locked[name])] for name in names}


def test_each_node_registers_with_the_address_that_the_lock_file_has_for_its_host(region: LocalRegion) -> None:
    registered = addresses(region)

    assert registered == as_locked(region)
    assert len(registered) == NODES * len(POOLS)


def test_one_edit_of_each_kind_replaces_as_many_nodes_as_predicted(region: LocalRegion, tmp_path: Path) -> None:
    edit_pools(region, {name: {"image": NEXT} for name in BUMPED})
    edit_pools(region, {**FIRST, "restarted": rolled(after=now())})
    promoted(region, *BUMPED, "tainted", "restarted")

    assert_as_predicted(region, tmp_path)


def test_a_rollout_of_all_pools_has_at_most_the_predicted_unavailable_nodes(
    region: LocalRegion, tmp_path: Path
) -> None:
    edit_pools(region, {name: {"image": PAST if name in BUMPED else NEXT} for name in POOLS})
    edit_pools(region, SECOND)
    promoted(region, *POOLS)

    assert_as_predicted(region, tmp_path)
    assert addresses(region) == as_locked(region)
