"""Failure domains of a pool, and its numbers of nodes and spares."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.pools import declared_spares, rack_hosts, wanted_nodes
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale
from components.specs.region.region import FailureDomain


def _rack_scale(environment: Environment, name: str) -> Environment:
    """Return ``environment`` with instance type ``name`` allocated in racks of 18 nodes."""
    kinds = tuple(
        kind.model_copy(update={"scale": Scale.RACK, "nodes_per_rack": 18}) if kind.name == name else kind
        for kind in environment.instance_types.instance_types
    )
    catalog = environment.instance_types.model_copy(update={"instance_types": kinds})
    return environment.model_copy(update={"instance_types": catalog})


def _with_domain(environment: Environment, domain: FailureDomain) -> Environment:
    region = environment.region.model_copy(update={"failure_domain": domain})
    return environment.model_copy(update={"region": region})


@pytest.mark.parametrize("domain", list(FailureDomain))
def test_the_region_defines_the_failure_domain_of_hosts(laptop: Any, domain: FailureDomain) -> None:
    environment = _with_domain(laptop.load(), domain)

    for host in environment.hosts:
        places = {FailureDomain.RACK: host.rack, FailureDomain.HALL: host.hall, FailureDomain.LEAF: host.leaf}
        assert environment.failure_domain(host) == places[domain]


def test_hosts_of_a_rack_scale_type_fail_with_their_rack(laptop: Any) -> None:
    environment = _rack_scale(_with_domain(laptop.load(), FailureDomain.HALL), "h100-ib-8")

    domains = {host.instance_type: environment.failure_domain(host) for host in environment.hosts}
    assert domains == {
        host.instance_type: host.rack if host.instance_type == "h100-ib-8" else host.hall for host in environment.hosts
    }


def test_an_unknown_type_is_treated_as_the_default_kind_of_the_region(laptop: Any) -> None:
    assert laptop.load().failure_domain_kind("h900") is FailureDomain.RACK


@pytest.mark.parametrize(("spares", "nodes"), [(0, 36), (1, 34), ("10%", 32)])
def test_racks_count_as_nodes_without_their_spares(laptop: Any, spares: int | str, nodes: int) -> None:
    environment = _rack_scale(laptop.load(), "h100-ib-8")
    pool = environment.tenants[0].clusters[0].pools[1]
    racks = pool.model_copy(update={"nodes": None, "racks": 2, "spares": spares})
    unknown = racks.model_copy(update={"instance_type": "h900"})

    assert (wanted_nodes(environment, racks), rack_hosts(environment, racks)) == (nodes, 36)
    assert (wanted_nodes(environment, pool), rack_hosts(environment, pool)) == (pool.nodes, 0)
    assert (wanted_nodes(environment, unknown), rack_hosts(environment, unknown)) == (0, 0)


def test_a_pool_may_keep_other_spares_than_the_region(laptop: Any) -> None:
    environment = laptop.load()
    pool = environment.tenants[0].clusters[0].pools[1]

    assert declared_spares(environment, pool) == environment.region.spares
    assert declared_spares(environment, pool.model_copy(update={"spares": 0})) == 0
