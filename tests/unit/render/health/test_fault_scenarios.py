"""Combined effect of the rendered objects on faults: the table of scenarios, evaluated by upstream's rules."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.inputs.node_pool import pool_input
from components.lookups.health.node_checks import checks_by_type, library_checks, repair_limits
from components.lookups.pools import pools
from components.programs.failed_repairs import GAVE_UP, WAITING
from components.render.add_ons.declared_hardware import UNLIKE, declared_hardware
from components.render.health import monitors, quarantine
from components.render.health.quarantine import EVICTION, QUARANTINE
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.remediations import NOW, Management, spare
from tests.support.objects.rendered_objects import objects_of

SCENARIOS = yaml.safe_load(Path(__file__).with_name("fault_scenarios.yaml").read_text())
GPU_NODES, CPU_NODES = "h100-ib-8", "cpu-gen4"
DEVICES = {GPU_NODES: {"10de:2330": 8, "15b3:1021": 8, "15b3:a2dc": 2}, CPU_NODES: {"15b3:a2dc": 2}}
_EVALUATED = {
    "In": lambda value, allowed: value in allowed,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


@dataclass(frozen=True)
class Node:
    """A node with the conditions that its monitors report."""

    kind: str
    conditions: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    devices: dict[str, int] = field(default_factory=dict)


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


def node_of(laptop: Environment, case: dict[str, Any]) -> Node:
    """Evaluate the log as node-problem-detector does, with the rendered monitor and upstream's rules."""
    kind = case.get("type", GPU_NODES)
    checks = library_checks().values()
    every = [check for checks in checks_by_type(laptop, (GPU_NODES, CPU_NODES)).values() for check in checks]
    rules = json.loads(monitors.monitor({check.name: check for check in every}.values()))["rules"]
    rules += [
        {"condition": one.condition, "reason": one.reason, "pattern": one.pattern} for one in checks if one.upstream
    ]
    node = Node(kind, devices={**DEVICES[kind], **case.get("devices", {})})
    node.conditions["Ready"] = case.get("ready", "True")
    for line, times in case.get("log", {}).items():
        for rule in rules:
            if not re.search(rf"{rule['pattern']}\Z", line):
                continue
            if rule.get("condition"):
                node.conditions[rule["condition"]] = "True"
                node.reasons[rule["condition"]] = rule["reason"]
            else:
                node.events[rule["reason"]] += times
    return node


def taints(laptop: Environment, node: Node) -> set[str]:
    """Return the taint keys that the node readiness controller and Node Feature Discovery set."""
    by_type = checks_by_type(laptop, (GPU_NODES, CPU_NODES))
    rendered = [item for rules in quarantine.rules("c", "ns", by_type) for item in rules.members.values()]
    keys = set()
    for rule in rendered:
        spec = rule.body["spec"]
        [selected] = spec["nodeSelector"]["matchExpressions"]
        faulty = any(node.conditions.get(condition["type"]) == "True" for condition in spec["conditions"])
        if node.kind in selected["values"] and faulty:
            keys.add(spec["taint"]["key"])
    return keys | {taint["key"] for taint in _of_devices(laptop, node)}


def _of_devices(laptop: Environment, node: Node) -> Iterator[dict[str, str]]:
    """Execute the rule for devices in order, as the master does (NFD:pkg/nfd-master, processNodeFeatureRule)."""
    kinds = tuple(laptop.instance_types.by_name[name] for name in (GPU_NODES, CPU_NODES))
    [rule] = declared_hardware("c", kinds, HealthAction.QUARANTINE, autoscaling=False)
    matched: dict[str, str] = {}
    for one in rule.body["spec"]["rules"]:
        [features] = one["matchFeatures"]
        expressions = features["matchExpressions"]
        if features["feature"] == "pci.device":
            devices = ((*device.split(":"), number) for device, number in node.devices.items())
            number = sum(
                number
                for vendor, device, number in devices
                if vendor in expressions["vendor"]["value"]
                and device in expressions.get("device", {"value": [device]})["value"]
            )
            if number:
                matched[one["varsTemplate"].partition("=")[0]] = str(number)
        elif all(_EVALUATED[test["op"]](matched.get(key), test.get("value")) for key, test in expressions.items()):
            matched |= one.get("labels", {})
            yield from one.get("taints", ())


def repaired(laptop: Environment, node: Node, age: int, others: int) -> list[str]:
    """Return the faults for which the health check of the node's group starts a remediation, with their reasons.

    Source: CAPI:machinehealthcheck_targets.go.
    """
    placed = next(
        placed
        for placed in pools(laptop)
        if placed.pool.instance_type == node.kind and placed.cluster.name == "acme-train"
    )
    rendered = objects_of(pool_input(laptop, placed, placed.pool))
    check = next(item.body["spec"] for item in rendered if item.kind == "MachineHealthCheck")
    unhealthy = [
        f"{condition['type']} {node.reasons.get(condition['type'], 'Unknown')}"
        for condition in check["checks"]["unhealthyNodeConditions"]
        if node.conditions.get(condition["type"]) == condition["status"] and age > condition["timeoutSeconds"]
    ]
    return unhealthy if others + 1 <= check["remediation"]["triggerIf"]["unhealthyLessThanOrEqualTo"] else []


def replaced(laptop: Environment, node: Node, faults: list[str], hours_ago: list[int], spares: int) -> bool:
    """Return whether the program ends the remediation after its first reboot, for this number of free hosts."""
    starts = " ".join(
        f"{NOW - dt.timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}" for hours in sorted(hours_ago, reverse=True)
    )
    limits = {
        kind: {"repairs": limit.repairs, "within_hours": limit.within_hours}
        for kind, limit in repair_limits(laptop).items()
    }
    written = Management(starts, node.kind, faults).run(WAITING, limits=limits, hosts=[spare()] * spares)
    return written.get("metal3remediations/status") == {"phase": GAVE_UP}


def outcome(laptop: Environment, case: dict[str, Any]) -> str:
    node = node_of(laptop, case)
    keys = taints(laptop, node)
    if faults := repaired(laptop, node, case.get("age", 3600), case.get("others", 0)):
        hours_ago, spares = case.get("repaired_hours_ago", []), case.get("spares", 1)
        return "replace" if replaced(laptop, node, faults, hours_ago, spares) else "reboot"
    if EVICTION["key"] in keys:
        return "evict"
    if keys & {QUARANTINE["key"], UNLIKE}:
        return "quarantine"
    checks = library_checks().values()
    alerts = [check for check in checks if check.reason and node.events[check.reason] >= check.threshold]
    faulty = {condition for condition, status in node.conditions.items() if status == "True"} - {"Ready"}
    return "notify" if alerts or faulty else "nothing"


@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case["name"])
def test_a_fault_has_the_expected_outcome(laptop: Environment, case: dict[str, Any]) -> None:
    assert outcome(laptop, case) == case["expected"]


def test_the_table_has_each_outcome() -> None:
    counts = Counter(case["expected"] for case in SCENARIOS)

    assert counts.keys() == {"nothing", "notify", "quarantine", "evict", "reboot", "replace"}
    assert counts.total() >= 30
