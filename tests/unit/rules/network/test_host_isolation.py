"""A tenant with whole nodes requires a backend that isolates hosts, unless it is the only tenant or has a waiver."""

from __future__ import annotations

import datetime as dt

import pytest

from components.render.backends import NETWORK_BACKENDS
from components.rules.checks import check_data, waived
from components.rules.network.isolation import isolation_kept, unfiltered_hosts, without_isolation
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.region.policy import WaiverSpec, WaiversSpec
from components.specs.region.tenant import TenantSpec
from tests.support.data.small_region import allocated, changed, nodes, small_region, tenant

RULE = "networks.without-isolation"
OPEN = [name for name, border in NETWORK_BACKENDS.items() if not border.isolates_hosts]


def _with_isolation(isolation: Isolation, name: str, count: int = 2) -> TenantSpec:
    """Return a tenant whose VPC has this isolation, with ``nodes`` nodes, or without a pool if zero."""
    made = tenant(name, *([nodes(count)] if count else []))
    return changed(made, vpcs=(changed(made.vpcs[0], isolation=isolation),))


def _region(*tenants: TenantSpec) -> Environment:
    return changed(small_region(), tenants=tenants)


def _reported(region: Environment) -> list[str]:
    return [problem.subject for problem in without_isolation(region)]


def _refused(region: Environment) -> list[str]:
    return [problem.subject for problem in check_data(region) if problem.rule == RULE]


def _waiving(region: Environment, *subjects: str) -> Environment:
    one = WaiverSpec(rule=RULE, subject="ant", reason="a test", owner="us", ticket="1", expires=dt.date(2027, 6, 1))
    waivers = tuple(changed(one, subject=subject) for subject in subjects)
    return changed(region, waivers=WaiversSpec(schema_version=1, waivers=waivers))


@pytest.mark.parametrize("isolation", OPEN)
def test_tenants_with_nodes_are_reported_together_without_host_isolation(isolation: Isolation) -> None:
    region = _region(_with_isolation(isolation, "ant"), _with_isolation(isolation, "bee"))

    one, other = without_isolation(region)

    assert (one.subject, other.subject) == ("ant", "bee")
    assert one.text == (
        f"{isolation} isolates no hosts ({NETWORK_BACKENDS[isolation].source}), but ant has root on its nodes, beside"
        " nodes of bee; write dpf-hbn, use a separate region for ant, or add a waiver to waivers.yaml"
    )


@pytest.mark.parametrize("isolation", OPEN)
def test_a_tenant_next_to_tenants_on_dpus_is_reported_and_they_are_not(isolation: Isolation) -> None:
    others = (_with_isolation(Isolation.DPF_HBN, "bee"), _with_isolation(Isolation.DPF_OVN, "cat"))

    assert _reported(_region(_with_isolation(isolation, "ant"), *others)) == ["ant"]


def test_each_vpc_of_a_tenant_is_reported_with_or_without_nodes() -> None:
    ant = _with_isolation(Isolation.KUBE_OVN, "ant")
    second = changed(ant.vpcs[0], name="later", isolation=Isolation.POLICY_ONLY)
    region = _region(changed(ant, vpcs=(*ant.vpcs, second)), _with_isolation(Isolation.DPF_HBN, "bee"))

    assert [problem.path for problem in without_isolation(region)] == [
        "vpcs[0].isolation",
        "vpcs[1].isolation",
    ]


@pytest.mark.parametrize(
    "others", [(), (_with_isolation(Isolation.DPF_HBN, "bee", 0),)], ids=["alone", "no other has nodes"]
)
def test_the_only_tenant_with_nodes_may_have_any_backend(others: tuple[TenantSpec, ...]) -> None:
    assert _reported(_region(_with_isolation(Isolation.POLICY_ONLY, "ant"), *others)) == []


def test_a_tenant_without_nodes_is_reported_when_it_gets_some() -> None:
    bee = _with_isolation(Isolation.DPF_HBN, "bee")

    assert _reported(_region(_with_isolation(Isolation.KUBE_OVN, "ant", 0), bee)) == []
    assert _reported(_region(_with_isolation(Isolation.KUBE_OVN, "ant", 1), bee)) == ["ant"]


def test_the_remedy_for_vpcs_with_nodes_is_a_new_vpc() -> None:
    region = allocated(
        _region(_with_isolation(Isolation.POLICY_ONLY, "ant"), _with_isolation(Isolation.POLICY_ONLY, "bee"))
    )

    [text, _] = [problem.text for problem in without_isolation(region)]

    assert "; create a new VPC with dpf-hbn, use a separate region for ant, " in text


def test_nodes_of_a_cluster_with_another_name_count_too() -> None:
    ant, bee = _with_isolation(Isolation.POLICY_ONLY, "ant"), _with_isolation(Isolation.POLICY_ONLY, "bee")
    renamed = changed(ant, clusters=(changed(ant.clusters[0], name="ant-other"),))
    region = changed(allocated(_region(ant, bee)), tenants=(renamed, bee))

    text = next(without_isolation(region)).text

    assert "; create a new VPC with dpf-hbn, " in text


def test_a_vpc_whose_edge_routers_would_change_under_nodes_is_the_only_problem() -> None:
    region = allocated(_region(_with_isolation(Isolation.DPF_HBN, "ant"), _with_isolation(Isolation.DPF_HBN, "bee")))
    edited = changed(region, tenants=(_with_isolation(Isolation.POLICY_ONLY, "ant"), region.tenants[1]))

    assert [problem.subject for problem in isolation_kept(edited)] == [""]
    assert _reported(edited) == []


def test_a_waiver_only_permits_the_named_tenant() -> None:
    region = _region(_with_isolation(Isolation.KUBE_OVN, "ant"), _with_isolation(Isolation.KUBE_OVN, "bee"))

    assert _refused(region) == ["ant", "bee"]
    assert _refused(_waiving(region, "ant")) == ["bee"]
    assert _refused(_waiving(region, "ant", "bee")) == []
    assert [problem.subject for problem, _ in waived(_waiving(region, "ant", "bee"))] == ["ant", "bee"]


def test_a_tenant_whose_hosts_reach_the_platform_is_reported_with_others() -> None:
    ant, bee = _with_isolation(Isolation.DPF_OVN, "ant"), _with_isolation(Isolation.DPF_HBN, "bee")

    [problem] = unfiltered_hosts(_region(ant, bee))

    assert (problem.subject, problem.path) == ("ant", "vpcs[0].isolation")
    assert list(unfiltered_hosts(_region(ant, _with_isolation(Isolation.DPF_HBN, "bee", 0)))) == []
    assert list(unfiltered_hosts(_region(_with_isolation(Isolation.DPF_HBN, "ant"), bee))) == []
