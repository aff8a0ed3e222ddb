"""Numbers of nodes in the history of faults, from recorded series in a real store, compared with its own answers.

One process of VictoriaMetrics stands for the cluster version; queries are the same code in both.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from components.reports.health import health
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction, HealthCatalog, HealthOverride
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.observe.facts import Facts, assemble
from jacquard.observe.metrics_store import MetricsStore
from jacquard.observe.nodes.fault_history import fault_history
from jacquard.previews.impacts.changed_checks import with_changed_checks
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.occupancy import CollectedFacts
from tests.support.data.environment_data import reference
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs
from tests.support.monitoring.victoria_stores import is_healthy, request
from tests.support.objects.working_nodes import MOMENT, working

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER, CONDITION, WEEK_MINUTES = "acme-train", "GpuLost", 7 * 24 * 60
SCRAPE_SECONDS = 60
FAULTS: dict[str, tuple[tuple[int, int], ...]] = {
    "x1": ((2000, 1992),),
    "x2": ((5000, 4996), (3000, 2997), (100, 98)),
    "x3": (),
    "gone-1": ((9000, 8994), (8994, 8990)),
    "gone-2": ((WEEK_MINUTES + 60, WEEK_MINUTES + 40),),
    "still": ((30, 0),),
}
"""Minutes before the end at which each node gets the fault, and no longer has it."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a store with the series of all nodes, and two days of another cluster."""
    folder = tmp_path_factory.mktemp("store")
    try:
        program = str(binaries.path("victoria-metrics"))
    except ToolchainError as error:
        pytest.skip(f"NO STORE: {error}; make test-nightly builds it")
    [port] = ports.free(1)
    address, programs = f"{ports.LOOPBACK}:{port}", Programs(folder)
    options = ("-retentionPeriod=100y", f"-storageDataPath={folder / 'data'}")
    try:
        programs.start("victoria-metrics", program, f"-httpListenAddr={address}", *options)
        wait_until(lambda: is_healthy(address), timeout_seconds=60, what="the store is healthy")
        found = [line for node in FAULTS for line in samples(CLUSTER, node, 8 * 24 * 60)]
        found += samples("globex-lab", "y1", 2 * 24 * 60)
        answer = request(f"http://{address}/api/v1/import/prometheus", "\n".join(found).encode())
        assert answer.status == 204, answer
        request(f"http://{address}/internal/force_flush")
        yield f"http://{address}"
    finally:
        programs.stop()


def samples(cluster: str, node: str, minutes: int) -> list[str]:
    """Return the samples of a node that kube-state-metrics would have reported until `MOMENT`."""
    name = f'kube_node_status_condition{{cluster="{cluster}",node="{node}",condition="{CONDITION}",status="true"}}'
    end, lines = int(MOMENT.timestamp()), []
    for minute in range(minutes, -1, -1):
        value = int(any(begin >= minute > ended for begin, ended in FAULTS.get(node, ())))
        lines.append(f"{name} {value} {(end - minute * SCRAPE_SECONDS) * 1000}")
    return lines


@pytest.fixture(scope="module")
def facts(url: str) -> Facts:
    laptop = reference("laptop")
    history = fault_history(laptop, MetricsStore(url, None), MOMENT + dt.timedelta(seconds=7))
    return assemble(laptop, working()).model_copy(update={"history": history})


def of(action: HealthAction, hold_seconds: int) -> Environment:
    """Return laptop with another action and hold time of the check."""
    override = HealthOverride(check="gpu-lost", action=action, hold_seconds=hold_seconds, reason="trial")
    return reference("laptop").model_copy(
        update={"health": HealthCatalog(schema_version=1, health_overrides=(override,))}
    )


def answered(url: str, environment: Environment) -> int:
    """Return the number of nodes by the history query of the check, which `test_alert_series` proves."""
    [kind] = [item for item in health(environment).types if item.instance_type == "h100-ib-8"]
    [query] = [row.history_query for row in kind.checks if row.check == "gpu-lost"]
    form = urlencode({"query": query or "", "time": f"{MOMENT.timestamp():.0f}"})
    found = json.loads(request(f"{url}/api/v1/query?{form}").text)["data"]["result"]
    return sum(int(item["value"][1]) for item in found if item["metric"]["cluster"] == CLUSTER)


def counted(facts: Facts, before: Environment, after: Environment) -> tuple[int, int]:
    """Return the number of nodes on which the changed check, and the one before, would have acted."""
    whole = {"environment": "laptop", "base": "a", "head": "b", "effect": "in place", "edits": 1, "code": False}
    impact = Impact.model_validate({**whole, "rows": (), "lost": (), "behind": (), "tenants": ()})
    found = with_changed_checks(impact, before, after, CollectedFacts(facts=facts, unfit=None)).checks
    nodes = [item for check in found if check.check == "gpu-lost" for item in check.nodes]
    return sum(item.past or 0 for item in nodes), sum(item.past_before or 0 for item in nodes)


def test_the_longest_occurrence_of_each_node_within_the_week_is_recorded(facts: Facts) -> None:
    assert facts.history is not None

    assert {fault.node: fault.longest_seconds // 60 for fault in facts.history.faults} == {
        "x1": 8,
        "x2": 4,
        "gone-1": 10,
        "still": 30,
    }


def test_the_hours_of_each_cluster_are_those_of_its_samples(facts: Facts) -> None:
    assert facts.history is not None

    assert {entry.cluster: entry.hours for entry in facts.history.coverage} == {CLUSTER: 168, "globex-lab": 49}


REPAIR, QUARANTINE = HealthAction.REPAIR, HealthAction.QUARANTINE


@pytest.mark.parametrize(
    ("after", "count"),
    [
        ((REPAIR, 60), 4),
        ((REPAIR, 240), 4),
        ((REPAIR, 300), 3),
        ((REPAIR, 480), 3),
        ((REPAIR, 540), 2),
        ((REPAIR, 900), 1),
        ((REPAIR, 3600), 0),
        ((QUARANTINE, 3600), 4),
    ],
)
def test_the_reported_numbers_are_those_of_the_store(
    after: tuple[HealthAction, int], count: int, url: str, facts: Facts
) -> None:
    before = of(REPAIR, 420)

    assert counted(facts, before, of(*after)) == (count, 3)
    assert (answered(url, of(*after)), answered(url, before)) == (count, 3)
