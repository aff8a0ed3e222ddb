"""overcommitted-namespaces."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from components.specs.environment import Environment
from policies.check import judge
from policies.environment_facts import overcommitted
from policies.facts import Context, object_fact
from policies.rules.clusters.overcommitted_namespaces import RULE
from tests.support.checks.places import resolved
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

SPACES = "      - {name: nightly, quota: {"


@pytest.fixture
def quotas(tmp_path: Path) -> Callable[..., Environment]:
    """Return a function that returns laptop with quotas of a tenant and of two of its namespaces."""
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))

    def edit(tenant: str, first: str, second: str) -> Environment:
        bench.edit("tenants/globex.yaml", "\nvpcs:\n", f"\nquotas: {{{tenant}}}\nvpcs:\n")
        bench.edit("tenants/globex.yaml", SPACES, f"      - {{name: daily, quota: {{{first}}}}}\n{SPACES}{second}, ")
        return bench.load()

    return edit


def test_reports_the_sum_of_namespaces_and_the_position_of_the_quota(
    quotas: Callable[..., Environment], text: Callable[..., str], now: dt.datetime, tmp_path: Path
) -> None:
    environment = quotas(
        "load_balancers: 4, storage: {shared-vast: 10Ti}",
        "load_balancers: 3, storage: {shared-vast: 8Ti}",
        "load_balancers: 1, storage: {shared-vast: 4Ti}",
    )
    cluster = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster"}
    fact = object_fact({**cluster, "metadata": {"name": "globex-lab", "namespace": "globex-lab"}}, "management")

    assert text(RULE, fact, Context.of(environment, now)) == resolved(
        "overcommitted-namespaces: Cluster globex-lab/globex-lab in cluster management\n"
        "  found:   namespaces may use of shared-vast 8Ti in globex-lab/daily, 4Ti in globex-lab/nightly, more than"
        " the quota of globex (10Ti, tenants/globex.yaml:<quotas>)\n"
        "  allowed: namespace quotas whose sum is at most the tenant's quota\n"
        "  why:     each team expects to be able to use its whole quota\n"
        "  fix:     lower the namespace quotas, raise the tenant's quota, or add a waiver for this cluster\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject Cluster globex-lab/globex-lab",
        tmp_path / "environments" / "laptop",
    )
    assert [item.rule.name for item in judge(environment, now).advised] == ["overcommitted-namespaces"]


@pytest.mark.parametrize(
    ("tenant", "first", "second"),
    [
        ("storage: {shared-vast: 12Ti}", "storage: {shared-vast: 8Ti}", "storage: {shared-vast: 4Ti}"),
        ("load_balancers: 4", "load_balancers: 1", "storage: {shared-vast: 4Ti}"),
        ("public_ips: 1", "load_balancers: 9", "load_balancers: 9"),
    ],
    ids=["as much as there is", "of other things", "no quota"],
)
def test_reports_nothing_for(tenant: str, first: str, second: str, quotas: Callable[..., Environment]) -> None:
    assert overcommitted(quotas(tenant, first, second)) == {}
