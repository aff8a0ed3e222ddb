"""Members of partitions: ports of the inventory, ranges of virtual functions, and unknown or missing values."""

from __future__ import annotations

from functools import cache
from typing import Any

from components.reports.network.partitions import FabricPartitions, partitions
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.keys import cluster_of
from components.specs.locks import Freed
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


@cache
def region() -> Environment:
    return load_environment("us-east-04a", paths.ROOT / "environments")


def reported(environment: Environment, fabric: str = "ib-east-1") -> FabricPartitions:
    [found] = [one for one in partitions(environment).fabrics if one.fabric == fabric]
    return found


def with_guids(environment: Environment, *names: str) -> Environment:
    hosts = tuple(
        host.model_copy(update={"port_guids": ("0x946dae0300000100", "0x946dae0300000101")})
        if host.host in names
        else host
        for host in environment.hosts
    )
    return environment.model_copy(update={"hosts": hosts})


def in_lock(environment: Environment, **update: Any) -> Environment:
    lock = environment.allocations.model_copy(update=update)
    return environment.model_copy(update={"allocations": lock})


def test_a_request_has_the_format_of_the_fabric_manager() -> None:
    [mine, *_] = reported(with_guids(region(), "a001-u01")).partitions

    assert mine.request.model_dump(mode="json") == {
        "pkey": "0x10",
        "membership": "full",
        "index0": True,
        "ip_over_ib": True,
        "guids": ["946dae0300000100", "946dae0300000101"],
    }
    assert (mine.tenant, mine.vpc, mine.clusters) == ("borealis", "borealis", ("borealis-train",))
    assert mine.hosts == {"a001-u01": ("946dae0300000100", "946dae0300000101")}


def test_a_host_of_another_tenant_moves_with_its_ports() -> None:
    known = with_guids(region(), "a001-u01")
    moved = in_lock(known, hosts={**region().allocations.hosts, "a001-u01": "cobalt-one/h100"})
    free = in_lock(known, hosts={name: pool for name, pool in region().allocations.hosts.items() if name != "a001-u01"})

    assert [one.vpc for one in reported(known).partitions if one.hosts] == ["borealis"]
    assert [one.vpc for one in reported(moved).partitions if one.hosts] == ["cobalt"]
    assert [one.vpc for one in reported(free).partitions if one.hosts] == []
    assert reported(free).nobody == {"a001-u01": ("946dae0300000100", "946dae0300000101")}
    assert reported(known).nobody == reported(moved).nobody == {}


def test_hosts_without_port_guids_are_named() -> None:
    lock, kinds = region().allocations, region().instance_types.by_name

    for fabric in partitions(region()).fabrics:
        for one in fabric.partitions:
            assert not one.hosts
            assert one.unknown == tuple(
                host.host
                for host in region().hosts
                if kinds[host.instance_type].infiniband_ports
                and host.host in lock.hosts
                and lock.clusters[cluster_of(lock.hosts[host.host])].vpc == one.vpc
            )


def test_virtual_functions_are_members_by_the_range_of_their_cluster_only() -> None:
    [mine, *_] = reported(region()).partitions
    [functions] = mine.functions

    assert functions.cluster == "borealis-train"
    assert functions.guids == region().allocations.clusters["borealis-train"].guids["ib-east-1"]


def test_a_cluster_with_whole_ports_only_has_no_other_members() -> None:
    kinds = region().instance_types
    whole = tuple(
        kind.model_copy(update={"rdma": RdmaSpec(ports=PortUse.WHOLE)}) if kind.infiniband_ports else kind
        for kind in kinds.instance_types
    )
    changed = region().model_copy(update={"instance_types": kinds.model_copy(update={"instance_types": whole})})

    assert [one.functions for one in reported(changed).partitions] == [()] * len(reported(changed).partitions)


def test_partitions_of_deleted_vpcs_must_be_empty() -> None:
    gone = in_lock(region(), quarantine={"zephyr/zephyr": Freed(pkeys={"ib-east-1": (0x1F,), "ib-east-2": (0x2F,)})})

    assert (reported(gone).freed, reported(gone, "ib-east-2").freed) == (("0x1f",), ("0x2f",))
    assert reported(region()).pkeys == "0x10-0x7f0"
