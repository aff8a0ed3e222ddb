"""The relation between rules: acyclic, between existing rules, and each row hides its consequence."""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import Any

import pytest

from components.rules import consequences
from components.rules.checks import descriptions
from components.rules.explanations import EXPLAINS
from components.rules.rule import rule_name
from components.rules.tables import ALL
from tests.support.checks.cluster_consequences import ACME, CLUSTERS, GIVEN, GLOBEX, LOCK
from tests.support.checks.workload_consequences import WORKLOADS

REGION = "region.yaml"
HALL = "inventory/hall-a.csv"
LOSE_HALL = [HALL]
ALLOCATE: list[str] = []
SWAP = [
    [ACME, "name: system,", "name: other,"],
    [ACME, "name: train\n", "name: system\n"],
    [ACME, "name: other,", "name: train,"],
]
_ROW = (
    '{},{},redfish-virtualmedia+https://10.1.4.1/redfish/v1/Systems/1,bmc-a04,"02:00:00:01:04:01",MT26A0401,leaf-a4\n'
)
LOSE_SPARE = [HALL, _ROW.format("a04,1,a04-u01,cpu-gen4", "C26A0401"), ""]
OUT_OF_SERVICE = [
    "out_of_service.yaml",
    "",
    "schema_version: 1\nhosts:\n  a04-u01: {state: triage, since: 2026-11-01, reason: link flaps}\n",
]
WITH_IPV6 = [
    [REGION, "  vni: 10000", "  tenants_ipv6: fd42:7a1c:e500::/40\n  vni: 10000"],
    [GLOBEX, "    egress: public ", "    ipv6: {pods: /56, services: /112}\n    egress: public "],
    ALLOCATE,
]
MORE_HOSTS = [
    ACME,
    "    egress: public",
    "    more_prefixes: [{name: more, kind: hosts, size: /25}]\n    egress: public",
]
BORDER = [
    REGION,
    "  vni: 10000",
    "  border: {asn: 65000, services: 1, internet: 2, networks: [0.0.0.0/0]}\n  vni: 10000",
]
SCRATCH = [
    [REGION, "storage:\n", "storage:\n  - {name: scratch, driver: topolvm, device_class: fast, encrypted: true}\n"],
    [GLOBEX, "storage: [shared-vast]", "storage: [shared-vast, scratch]"],
]
NEXT_ROW = '"02:00:00:01:04:01",MT26A0401,leaf-a4\n'
COPIED_ROW = [HALL, NEXT_ROW, NEXT_ROW + _ROW.format("a04,1,a04-u09,cpu-gen4", "C26A0401")]
OTHER_HALL = [
    "inventory/hall-b.csv",
    "",
    "rack,slot,host,instance_type,serial,bmc,bmc_secret,boot_mac,dpu_serial,leaf\n"
    + _ROW.format("a04,1,a04-u01,cpu-gen4", "C26A0401"),
]
PINNED_CHART = [
    ["../catalog/versions.yaml", "version: 1.20.0,", "version: 1.20.1,"],
    [
        "images.lock.yaml",
        "\nregion: laptop",
        (
            "\nchart_intents:\n  cilium-1.20.0@d1b30a879e2239de: {revision: 1, chart: cilium, version: 1.20.0,"
            " url: 'oci://registry.cloud.example/charts/cilium',"
            " digest: 'sha256:5e00f4a3cccbb0cb550daf37c3da88a8c39720ef9e057e8cf179fb20a05bdd9f'}\ncharts:\n"
            "  charts/cilium/acme-train: cilium-1.20.0@d1b30a879e2239de\n"
            "  charts/cilium/globex-lab: cilium-1.20.0@d1b30a879e2239de\nregion: laptop"
        ),
    ],
]
"""A chart with another version and its old digest, after a promotion of the old version."""

CASES = [
    (
        "digests.pinned",
        "locks.pins",
        [["../catalog/images.yaml", "version: gpu-2026.11.1\n", "version: gpu-2026.11.9\n"]],
    ),
    ("digests.pinned", "charts.pins", PINNED_CHART),
    (
        "version-limits.dpu-images",
        "images.doca",
        [[REGION, "image: bfb-3.2.0", "image: bfb-2.9.2"]],
    ),
    ("inventory.hall-files", "locks.allocations", [LOSE_HALL]),
    ("inventory.hall-files", "contracts.contracted-capacity", [LOSE_HALL]),
    ("inventory.hall-files", "causes.removed-rows", [LOSE_HALL]),
    ("inventory.host-duplicates", "causes.removed-rows", [[HALL, "a01-u02", "a01-u01"]]),
    ("inventory.hall-files", "causes.swapped-pools", [LOSE_HALL, *SWAP]),
    ("causes.changed-rows", "locks.allocations", [[HALL, "a01-u01,h100-ib-8", "a01-u01,cpu-gen4"]]),
    ("causes.removed-rows", "inventory.out-of-service", [OUT_OF_SERVICE, LOSE_SPARE]),
    ("causes.swapped-pools", "node-pools.instance-types", SWAP),
    ("causes.swapped-pools", "locks.pins", SWAP),
    ("locks.hand-edits", "locks.allocations", [[LOCK, "  a02-u08: globex-lab/lab\n", ""]]),
    (
        "inventory.bmc-addresses",
        "locks.allocations",
        [
            [REGION, "bmc: 10.1.0.0", "bmc: 10.11.0.0"],
            [
                GLOBEX,
                "{name: lab, instance_type: h100-ib-8, nodes: 4",
                "{name: lab, instance_type: h100-ib-8, nodes: 3",
            ],
        ],
    ),
    ("locks.hand-edits", "locks.unpaired", [[LOCK, "isolation: dpf-ovn", "isolation: dpf-hbn"]]),
    ("locks.hand-edits", "networks.isolation-kept", [[LOCK, "isolation: dpf-ovn", "isolation: dpf-hbn"]]),
    ("locks.hand-edits", "networks.vpc-sizes", [[LOCK, "services: 10.65.0.0/20", "services: 10.65.0.0/21"]]),
    (
        "locks.hand-edits",
        "control-planes.kept",
        [[LOCK, "vip: 10.3.0.1", "service_domain: old.local, vip: 10.3.0.1"]],
    ),
    (
        "locks.hand-edits",
        "dual-stack.kept",
        [[LOCK, GIVEN, f"{GIVEN}, pods_ipv6: 'fd42::/56', services_ipv6: 'fd42:0:0:100::/112'"]],
    ),
    (
        "locks.hand-edits",
        "more-prefixes.kept",
        [[LOCK, GIVEN, f"{GIVEN}, more_prefixes: {{more: {{kind: hosts, prefix: 10.66.0.0/25}}}}"]],
    ),
    (
        "locks.hand-edits",
        "more-prefixes.kinds",
        [MORE_HOSTS, [LOCK, GIVEN, f"{GIVEN}, more_prefixes: {{more: {{kind: pods, prefix: 10.66.0.0/25}}}}"]],
    ),
    (
        "locks.hand-edits",
        "vpc-clusters.kept",
        [
            [
                LOCK,
                GIVEN,
                f"{GIVEN}, more_prefixes: {{own: {{kind: pods, prefix: 10.66.0.0/20, cluster: acme-train}}}}",
            ]
        ],
    ),
    (
        "locks.numbers",
        "registry.address",
        [[REGION, "control_plane_vips: 10.3.0.0/24", "control_plane_vips: 10.5.0.0/24"]],
    ),
    (
        "locks.numbers",
        "observability.address",
        [
            [REGION, "control_plane_vips: 10.3.0.0/24", "control_plane_vips: 10.5.0.0/24"],
            [REGION, "storage_class: local-nvme}\nnodes", "storage_class: local-nvme, address: 10.3.0.249}\nnodes"],
        ],
    ),
    (
        "node-pools.instance-types",
        "locks.allocations",
        [
            [
                GLOBEX,
                "instance_type: h100-ib-8, nodes: 4}\n    storage",
                "instance_type: cpu-gen4, nodes: 4}\n    storage",
            ]
        ],
    ),
    (
        "node-pools.instance-types",
        "add-ons.add-on-needs",
        [
            [
                GLOBEX,
                "instance_type: h100-ib-8, nodes: 4}\n    storage",
                "instance_type: cpu-gen4, nodes: 4}\n    storage",
            ]
        ],
    ),
    (
        "add-ons.add-on-references",
        "add-ons.add-on-needs",
        [[GLOBEX, "[cilium, node-features, gpus]", "[cilium, node-feature-discovery, gpus]"]],
    ),
    ("networks.unusable", "networks.networks-disjoint", [BORDER]),
    (
        "networks.networks-disjoint",
        "node-addresses.services",
        [[REGION, "management: 10.0.0.0/16", "management: 10.0.0.0/8"]],
    ),
    ("networks.networks-disjoint", "registry.address", [[REGION, "management: 10.0.0.0/16", "management: 10.0.0.0/8"]]),
    ("networks.networks-disjoint", "dns.name-server", [[REGION, "tenants: 10.64.0.0/10", "tenants: 10.0.0.0/8"]]),
    ("references.cluster-references", "control-planes.backend-versions", [[ACME, "v1.35.2", "v1.53.2"]]),
    ("control-planes.endings", "references.vm-references", [[ACME, "name: acme-train\n", "name: acme-learn\n"]]),
    (
        "control-planes.endings",
        "locks.allocations",
        [[ACME, "name: acme-train\n", "name: acme-learn\n"], [ACME, "cluster: acme-train", "cluster: acme-learn"]],
    ),
    ("storage.encrypted-disks", "storage.volume-groups", SCRATCH),
    ("networks.vpc-sizes", "capacity.vpc-capacity", [[ACME, "hosts: /24", "hosts: /29"]]),
    ("networks.vpc-sizes", "networks.service-prefixes", [[ACME, "services: /20", "services: /8"]]),
    ("networks.vpc-sizes", "dual-stack.sizes", [*WITH_IPV6, [GLOBEX, "pods: /56", "pods: /72"]]),
    ("networks.vpc-sizes", "more-prefixes.sizes", [MORE_HOSTS, ALLOCATE, [ACME, "size: /25", "size: /32"]]),
    ("locks.hand-edits", "locks.allocations", [[LOCK, "a01-u07: globex-lab/lab", "a01-u07: acme-train/train"]]),
    (
        "references.cluster-references",
        "references.vm-references",
        [[ACME, "storage: [shared-nfs, shared-vast]", "storage: [shared-nfs, shared-vats]"]],
    ),
    ("add-ons.add-on-references", "add-ons.networks", [[GLOBEX, "add_ons: [cilium,", "add_ons: [cillium,"]]),
    ("inventory.halls", "inventory.host-duplicates", [OTHER_HALL]),
    ("inventory.halls", "inventory.racks", [OTHER_HALL]),
    ("inventory.host-duplicates", "inventory.rack-sizes", [COPIED_ROW]),
    *CLUSTERS,
    *WORKLOADS,
]
"""Cause, consequence, and edits of the example that cause both. An edit with one item is a missing file."""


@pytest.mark.parametrize(("cause", "consequence", "edits"), CASES)
def test_a_cause_is_reported_without_its_consequence(
    laptop: Any, monkeypatch: pytest.MonkeyPatch, cause: str, consequence: str, edits: list[list[str]]
) -> None:
    for edit in edits:
        _edit(laptop, edit)

    reported = {problem.rule for problem in laptop.problems()}
    monkeypatch.setattr(consequences, "EXPLAINS", ())
    monkeypatch.setattr(consequences, "without_repetitions", lambda problems: problems)
    every = {problem.rule for problem in laptop.problems()}

    assert consequence not in reported
    assert {cause, consequence} <= every


def _edit(laptop: Any, edit: list[str]) -> None:
    match edit:
        case []:
            laptop.allocate()
        case [file]:
            (laptop.folder / file).unlink()
        case [file, "", text]:
            (laptop.folder / file).write_text(text, encoding="utf-8")
        case [file, old, new]:
            laptop.edit(file, old, new)


def test_each_row_and_each_consequence_has_a_case() -> None:
    cases = {(cause, consequence) for cause, consequence, _ in CASES}
    rows = [(set(map(rule_name, row.causes)), set(map(rule_name, row.consequences))) for row in EXPLAINS]

    assert [
        one for causes, follow in rows for one in follow if not any((cause, one) in cases for cause in causes)
    ] == []


def test_no_rule_explains_itself_through_others() -> None:
    followed_by = {rule: list(row.causes) for row in EXPLAINS for rule in row.consequences}
    for row in EXPLAINS:
        for rule in row.consequences:
            followed_by[rule] += row.causes

    TopologicalSorter(followed_by).prepare()


def test_the_relation_names_rules_that_run() -> None:
    named = {rule_name(rule) for row in EXPLAINS for rule in (*row.causes, *row.consequences)}

    assert named <= descriptions().keys()


def test_no_cause_is_passed_over_by_a_promotion_while_it_hides_others() -> None:
    assert not {rule for row in EXPLAINS for rule in row.causes} & set(ALL.promoted)
