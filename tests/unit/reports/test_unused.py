"""Advice on definitions without effect, which the check accepts."""

from __future__ import annotations

from typing import Any

import pytest

from components.reports.unused import unused

REGION, ACME, GLOBEX, TYPES = (
    "region.yaml",
    "tenants/acme.yaml",
    "tenants/globex.yaml",
    "../catalog/instance_types.yaml",
)
TESTS, RECORD = "host_tests.yaml", f'{{passed: 2026-11-20T10:00:00Z, digest: "sha256:{"1" * 64}"}}\n'
ETHERNET = (
    "fabrics:\n  - {name: rail, kind: ethernet, vnis: 40000-40009, roce: {mtu_bytes: 9000, priority: 3, dscp: 26,"
    " cnp_dscp: 48}, rails: 8, rail_prefixes: 100.96.0.0/12, max_hosts: 100}\ncontrol_planes:\n"
)
METRICS = "  metrics: {size: 50Gi, storage_class: local-nvme}\n"
WITH_STORES = (
    "  metrics: {size: 50Gi, storage_class: local-nvme, address: 10.3.0.249}\n"
    "  logs: {size: 1Ti, storage_class: local-nvme}\n"
)
SINK = '{endpoint: "https://sink.globex.example/v1"}'
SLURM = "    slurm: {partitions: [{name: main, pools: [lab]}], controller: {storage_class: shared-vast}}\n"
VPC = "{name: more, isolation: dpf-hbn, hosts: /24, pods: /18, services: /20, load_balancers: /27}"
CASES = {
    "a storage class": (
        [(REGION, "storage:\n", "storage:\n  - {name: other, driver: nfs, server: 10.2.0.11, share: /all}\n")],
        "region.yaml:<storage.other>  storage[0]: no cluster lists 'other' in storage; list it there, or remove it",
    ),
    "a share for all tenants, while one uses it": (
        [(REGION, "share: /export/<tenant>", "share: /export/all")],
        (
            "region.yaml:LINE  storage[0].share: only tenant acme lists 'shared-nfs', and a second one would share this"
            " value; write <tenant> in it before another tenant lists the class"
        ),
    ),
    "an object store": (
        [(REGION, "spares: 2%", "object_stores: [{name: s3, endpoint: https://s3.cloud.example}]\nspares: 2%")],
        "region.yaml:LINE  object_stores[0]: no bucket is in 's3'; add one, or remove it",
    ),
    "a sink of metrics without a cluster that sends": (
        [(REGION, METRICS, WITH_STORES), (GLOBEX, "vpcs:", f"metrics_sink: {SINK}\nvpcs:")],
        (
            "tenants/globex.yaml:LINE  metrics_sink: no cluster has an add-on that gives monitoring, so nothing is"
            " sent; add one, or remove metrics_sink"
        ),
    ),
    "a sink of logs without a cluster that sends, in a VPC that does not reach it": (
        [
            (REGION, METRICS, WITH_STORES),
            (GLOBEX, "vpcs:", f"log_sink: {SINK}\nvpcs:"),
            (GLOBEX, "egress: public", "egress: none"),
        ],
        (
            "tenants/globex.yaml:LINE  log_sink: no cluster has an add-on that gives logs, so nothing is sent; add one,"
            " or remove log_sink"
        ),
    ),
    "a network for IPv6": (
        [(REGION, "  vni: 10000", "  tenants_ipv6: fd42:7a1c:e500::/40\n  vni: 10000")],
        "region.yaml:LINE  networks.tenants_ipv6: no VPC has ipv6; add it to one, or remove this network",
    ),
    "partitions of Slurm without a default": (
        [(GLOBEX, "    storage:", f"{SLURM}    storage:")],
        (
            "tenants/globex.yaml:LINE  clusters[0].slurm.partitions: none is the default, so Slurm rejects jobs that"
            " name no partition; write default: true in one"
        ),
    ),
    "a VPC": (
        [(GLOBEX, "vpcs:\n", f"vpcs:\n  - {VPC}\n")],
        (
            "tenants/globex.yaml:<vpcs.more>  vpcs[0]: no cluster is in VPC 'more', which has allocated prefixes; add a"
            " cluster, or remove it"
        ),
    ),
    "a security group": (
        [(ACME, "vpcs:\n", "security_groups: [{name: edge, ingress: [{cidr: 0.0.0.0/0}]}]\nvpcs:\n")],
        (
            "tenants/acme.yaml:LINE  security_groups[0]: no VPC has security_group: edge, so its rules apply nowhere;"
            " name it in a VPC, or remove it"
        ),
    ),
    "ports without an address": (
        [(ACME, "      public_ip: true\n", "")],
        (
            "tenants/acme.yaml:LINE  vms.platform[0].ports: VM bastion has no public address at which ports are open;"
            " write public_ip: true, or remove it"
        ),
    ),
    "a fabric": (
        [(REGION, "control_planes:\n", ETHERNET)],
        "region.yaml:<fabrics.rail>  fabrics[0]: no VPC lists 'rail' in fabrics; list it there, or remove it",
    ),
    "a test of a removed host": (
        [(TESTS, "hosts:\n", f"hosts:\n  a99-u01: {RECORD}")],
        "host_tests.yaml:LINE  hosts.a99-u01: 'a99-u01' is not in any inventory/hall-*.csv; remove the line",
    ),
    "a feature whose fields are comments": (
        [(GLOBEX, "    storage:", "    queues:\n    #  fair_sharing: true\n    storage:")],
        "tenants/globex.yaml:LINE  clusters[0].queues: has no value and no effect; write its value, or remove it",
    ),
    "more rails than ports": (
        [
            (REGION, "control_planes:\n", ETHERNET),
            (
                TYPES,
                "    infiniband_ports: 8\n    ethernet_ports: 2\n",
                "    roce_ports: 4\n    roce_interfaces: [r0, r1, r2, r3]\n    rdma: {ports: functions}\n",
            ),
            (GLOBEX, "isolation: dpf-ovn", "isolation: dpf-ovn\n    fabrics: [rail]"),
        ],
        "region.yaml:LINE  fabrics[0].rails: 8 rails, but nodes on 'rail' have at most 4 ports; write 4",
    ),
}


@pytest.mark.parametrize(("edits", "text"), CASES.values(), ids=CASES)
def test_a_definition_without_effect_is_advised(laptop: Any, edits: list[tuple[str, str, str]], text: str) -> None:
    (laptop.folder / TESTS).write_text("schema_version: 1\nhosts:\n  a01-u01: " + RECORD)
    assert unused(laptop.load()) == []

    for edit in edits:
        laptop.edit(*edit)

    assert [f"{item.place}  {item.path}: {item.text}" for item in unused(laptop.load())] == [laptop.resolved(text)]


def test_a_default_partition_needs_no_advice(laptop: Any) -> None:
    laptop.edit(GLOBEX, "    storage:", f"{SLURM.replace('[lab]', '[lab], default: true')}    storage:")

    assert unused(laptop.load()) == []


def test_the_network_of_ovn_is_used_while_a_vpc_has_it(laptop: Any) -> None:
    environment = laptop.load()
    without = tuple(tenant for tenant in environment.tenants if tenant.tenant != "globex")
    gone = environment.allocations.model_copy(update={"vpcs": {}})

    assert [item.path for item in unused(environment.model_copy(update={"tenants": without}))] == []
    [advice] = unused(environment.model_copy(update={"tenants": without, "allocations": gone}))
    assert (advice.path, advice.text) == ("networks.ovn", "no VPC uses OVN; remove it together with dpus.ovn_central")


def test_a_size_that_no_tenant_offers_is_a_choice_and_no_advice(laptop: Any) -> None:
    laptop.edit(
        "../catalog/vm_offerings.yaml", "sizes:\n", "sizes:\n  - {name: big, cpus: 2, memory: 8Gi, root_disk: 9Gi}\n"
    )

    assert unused(laptop.load()) == []
