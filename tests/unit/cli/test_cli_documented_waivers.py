"""Every documented waiver is accepted, has an effect, and is named in the report of its rule."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.rules.region import capacity
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError
from jacquard.cli.errors import ExitCode
from jacquard.cli.runs.policy_gate import refuse
from jacquard.machine import paths
from policies.check import frozen
from policies.rules import RULES
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
TODAY = ("--today", "2026-11-21")
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
NONE = "schema_version: 1\nwaivers:\n"
WAIVER = "  - {{rule: {}, subject: {}, reason: agreed on, owner: ops, ticket: OPS-7, expires: 2026-12-15}}\n"
LAPTOP_HAS = (LAPTOP / "waivers.yaml").read_text(encoding="utf-8")
UNFILTERED = "networks.unfiltered-hosts"
FREEZE = """schema_version: 1
freezes:
  - {name: run-7, from: 2026-11-20T00:00:00Z, to: 2026-12-01T00:00:00Z, reason: a training run, tenants: [acme]}
"""
DEDICATED = "  dedicated: {storage_class: local}\n  dedicated_above_nodes: 10\n"
OPEN_VPC = "{name: open, isolation: policy-only, hosts: /24, pods: /20, services: /20, load_balancers: /27}"
IN_IMAGE = "gpu_driver: 580.95.05, doca: 3.1.0, nfs_client: vastnfs-4.0.34, nfs_rdma: true, "
SHORT_WINDOW = (
    "approval: required, window: {days: [tue], from: '23:00', to: '00:15', timezone: UTC}",
    "rollout: {max_unavailable: 50%, drain_timeout_seconds: 4501}",
)


@dataclass(frozen=True)
class Case:
    """A documented waiver, and edits of laptop that require it."""

    subject: str
    edits: tuple[tuple[str, str, str], ...]
    allocated: bool = False
    """Whether the edits require an allocation, which the waiver permits."""


CHECKED = {
    "image-outside-channel": Case(
        "globex-lab/lab", (("../catalog/images.yaml", "channel: [candidate, latest, stable]", "channel: [candidate]"),)
    ),
    "capacity.cluster-size": Case("acme-train", ()),
    "capacity.dedicated-data-stores": Case(
        "acme-train", (("region.yaml", "  backend: kamaji\n", f"  backend: kamaji\n{DEDICATED}"),)
    ),
    "contracts.contracted-nodes": Case("acme", (("tenants/acme.yaml", "nodes: 14", "nodes: 13"),)),
    "contracts.contracted-capacity": Case("globex", (("tenants/globex.yaml", "nodes: 4}", "nodes: 8}"),)),
    "inventory.leaves": Case("a01-u01", (("inventory/hall-a.csv", "MT26A0101,leaf-a1", "MT26A0101,leaf-a11"),)),
    UNFILTERED: Case("globex", (("waivers.yaml", "subject: globex", "subject: acme"),)),
    "networks.without-isolation": Case(
        "globex", (("tenants/globex.yaml", "\nclusters:\n", f"  - {OPEN_VPC}\n\nclusters:\n"),), allocated=True
    ),
    "governance.windows": Case(
        "acme-train/infer",
        (
            ("tenants/acme.yaml", "approval: required", SHORT_WINDOW[0]),
            ("tenants/acme.yaml", "rollout: {max_unavailable: 50%}", SHORT_WINDOW[1]),
        ),
    ),
    "reserved-keys.kubernetes": Case(
        "acme-train/train", (("tenants/acme.yaml", "key: workload, value", "key: scheduling.k8s.io/jobs, value"),)
    ),
    "nvlink-domains.one-tenant": Case(
        "globex-lab/lab",
        (
            ("../catalog/instance_types.yaml", "name: h100-ib-8\n", "name: h100-ib-8\n    scale: rack\n"),
            ("../catalog/images.yaml", f"{IN_IMAGE}kubelet: v1.35.1", f"{IN_IMAGE}imex: true, kubelet: v1.35.1"),
        ),
    ),
    "storage.unique-directories": Case(
        "shared-nfs",
        (
            (
                "region.yaml",
                "share: /export/<tenant>,",
                "share: /export/<tenant>, sub_directory: '${pvc.metadata.namespace}/${pvc.metadata.name}',",
            ),
        ),
    ),
    "safe-mounts.lossy-options": Case("shared-nfs", (("region.yaml", "nconnect=8]", "nconnect=8, soft]"),)),
    "safe-mounts.nfs-version": Case("shared-nfs", (("region.yaml", "nfsvers=4.2, nconnect=8", "nconnect=8"),)),
    "version-limits.faults": Case(
        "slurm-operator",
        (
            ("tenants/acme.yaml", "add_ons: default", "add_ons: [default, monitoring, slurm]"),
            ("../catalog/versions.yaml", 'slurm-operator", version: 1.1.2', 'slurm-operator", version: 1.1.0'),
        ),
    ),
    "storage-walls.between-tenants": Case("shared-vast", (("region.yaml", "secret: vast-<tenant>", "secret: vast"),)),
}
"""Waivers that affect ``jacquard check``."""
ELSEWHERE = {
    *("uniformity", "change-in-freeze", "causes.removed-rows"),
    *("add-ons.network-kept", "charts.in-use", "digests.changed", "inventory.released-first"),
    *("hosts.transition", "hosts.tested", "hosts.movers", "data-stores.restore-steps"),
    *("data-stores.fewer-members", "data-stores.more-members"),
}
"""Waivers with separate tests: of changes against a base, of removed rows, of uniformity and of freezes."""


def documented() -> set[str]:
    """Return the rules for which any page documents a waiver."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in (paths.ROOT / "docs").rglob("*.md")}
    shown = re.compile(r"rule `([a-z.-]+)` (?:in|to) `waivers\.yaml`")
    found = {rule for text in pages.values() for rule in shown.findall(text)}
    for section in pages["policies.md"].split("\n### ")[1:]:
        if re.search(r"a\s+waiver\s+with\s+the\s+\w+\s+as\s+its\s+subject", section):
            found.add(section.partition("\n")[0])
    _, _, section = pages["rules.md"].partition("\n## What may be waived\n")
    listed = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("- ")]
    return found | {rule for line in listed for rule in re.findall(r"`([a-z-]+\.[a-z-]+)`", line)}


def waive(folder: Path, rule: str, subject: str) -> None:
    given = NONE if rule == UNFILTERED else LAPTOP_HAS
    (folder / "waivers.yaml").write_text(given + WAIVER.format(rule, subject))


def deviating(invoke: Invoke) -> list[dict[str, Any]]:
    answer = json.loads(invoke("show", "laptop", "uniformity", "--format", "json").stdout)
    return [pool for pool in answer["pools"] if pool["deviations"]]


def test_each_documented_waiver_is_tried_here() -> None:
    assert documented() == CHECKED.keys() | ELSEWHERE


@pytest.mark.parametrize(("rule", "case"), CHECKED.items(), ids=CHECKED)
def test_a_documented_waiver_makes_check_pass_until_it_expires(
    invoke: Invoke, data_folder: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch, rule: str, case: Case
) -> None:
    folder = data_folder / "laptop"
    monkeypatch.setattr(capacity, "MAX_NODES", 15 if rule == "capacity.cluster-size" else capacity.MAX_NODES)
    for file, old, new in case.edits:
        edit(folder / file, old, new)
    if case.allocated:
        waive(folder, rule, case.subject)
        assert invoke("allocate", "laptop").exit_code == ExitCode.OK
        (folder / "waivers.yaml").write_text(LAPTOP_HAS)
    before = invoke("check", "laptop", *TODAY, "--strict", "--format", "json")
    waive(folder, rule, case.subject)
    after = invoke("check", "laptop", *TODAY)
    late = invoke("check", "laptop", "--strict", "--today", "2026-12-15")

    assert before.exit_code in {ExitCode.BAD_DATA, ExitCode.REFUSED}
    assert f'"{rule}"' in before.stdout
    assert after.exit_code == ExitCode.OK, after.output
    assert f"  waived: {rule}: " in after.stdout
    assert "agreed on (ops, OPS-7, until 2026-12-15)" in after.stdout
    assert "advice: " not in after.stdout
    assert late.exit_code in {ExitCode.BAD_DATA, ExitCode.REFUSED}
    assert "void since 2026-12-15" in late.stderr


def test_the_waiver_of_a_freeze_is_accepted_and_lifts_it(invoke: Invoke, data_folder: Path) -> None:
    folder = data_folder / "laptop"
    (folder / "policy.yaml").write_text(FREEZE)
    before = frozen(load_environment("laptop", data_folder), "laptop", NOW)
    waive(folder, "change-in-freeze", "acme")

    assert [item.rule.name for item in before] == ["change-in-freeze"]
    assert invoke("check", "laptop", *TODAY).exit_code == ExitCode.OK
    assert frozen(load_environment("laptop", data_folder), "laptop", NOW) == []


@pytest.mark.parametrize("whose", ["pool", "group"])
def test_the_waiver_of_a_deviation_is_accepted_and_shown(invoke: Invoke, data_folder: Path, whose: str) -> None:
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--wave", "1", *TODAY)
    [before] = [pool for pool in deviating(invoke) if pool["pool"] == "acme-train/train"]
    subject = before["pool"] if whose == "pool" else before["deviations"][0]["subject"]
    waive(data_folder / "laptop", "uniformity", subject)
    [after] = deviating(invoke)

    assert {item["waiver"] for item in before["deviations"]} == {None}
    assert invoke("check", "laptop", *TODAY).exit_code == ExitCode.OK
    assert {item["waiver"]["subject"] for item in after["deviations"]} == {subject}


def test_a_cross_check_that_nothing_waives_is_refused_as_such(invoke: Invoke, data_folder: Path) -> None:
    waive(data_folder / "laptop", "networks.networks-disjoint", "acme")

    result = invoke("check", "laptop", *TODAY)

    policies = ", ".join(rule.name for rule in RULES)
    checks = ", ".join(sorted(rule for rule in {*CHECKED, *ELSEWHERE} if "." in rule))
    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == resolved(
        "environments/laptop: 1 problem\n"
        "  waivers.yaml:LINE  waivers[1].rule: 'networks.networks-disjoint' is a cross-check that cannot be waived"
        f" (rules: {policies}, uniformity, {checks}); remove it or pick one;"
        " did you mean 'networks.without-isolation'?\n"
        "  reported by policies.unknown-rule; for details: jacquard explain policies.unknown-rule\n",
        data_folder / "laptop",
    )


def test_json_and_sarif_contain_a_waived_cross_check(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "nodes: 14", "nodes: 13")
    waive(data_folder / "laptop", "contracts.contracted-nodes", "acme")

    [answer] = json.loads(invoke("check", "laptop", *TODAY, "--format", "json").stdout)
    results = json.loads(invoke("check", "laptop", *TODAY, "--format", "sarif").stdout)["runs"][0]["results"]

    [waiver] = [item for item in answer["waived_checks"] if item["rule"] != UNFILTERED]
    [found] = [item for item in results if item["ruleId"] != UNFILTERED]
    assert (answer["ok"], answer["problems"], answer["idle_waivers"]) == (True, [], [])
    assert (waiver["rule"], waiver["subject"], waiver["waiver"]["ticket"]) == (
        "contracts.contracted-nodes",
        "acme",
        "OPS-7",
    )
    assert found["ruleId"] == "contracts.contracted-nodes"
    assert found["suppressions"] == [{"kind": "external", "justification": "agreed on (ops, OPS-7, until 2026-12-15)"}]


def test_nothing_is_applied_once_the_waiver_of_a_cross_check_has_expired(data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "nodes: 14", "nodes: 13")
    waive(data_folder / "laptop", "contracts.contracted-nodes", "acme")
    environment = load_environment("laptop", data_folder)

    refuse(environment, NOW)
    with pytest.raises(SpecError) as late:
        refuse(environment, dt.datetime(2026, 12, 15, tzinfo=dt.UTC))

    assert str(late.value).endswith(
        "; its waiver is void since 2026-12-15: remove it from waivers.yaml, or agree on a new date with ops (OPS-7)"
    )
