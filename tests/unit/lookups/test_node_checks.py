"""Faults that the library's checks recognise in kernel logs, and their consequences for nodes of each instance type."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from components.lookups.health.node_checks import FILE, NodeCheckTable, checks_by_type, checks_of, library_checks
from components.specs.health.node_checks import Detector, HealthAction, HealthCatalog, HealthOverride, NodeCheck
from components.specs.health.node_tests import NodeTestsSpec
from components.specs.reading.loader import load_environment
from components.specs.reading.parsing import parsed
from jacquard.machine import paths

CASES = yaml.safe_load(Path(__file__).with_name("fault_cases.yaml").read_text())
_ONLY_GO, _ONLY_PYTHON = ("(?P<", "\\C"), ("(?=", "(?!", "(?<=", "(?<!", "(?>", "\\1")
"""Prefixes of syntax that only RE2 or only Python's ``re`` supports."""


def test_the_strict_reader_accepts_the_table() -> None:
    table, _, problems = parsed(FILE.name, FILE.read_text(), NodeCheckTable)

    assert [str(problem) for problem in problems] == []
    assert isinstance(table, NodeCheckTable)
    assert list(table.checks) == list(library_checks().values())


def test_patterns_and_conditions_are_such_as_upstream_understands() -> None:
    checks = library_checks().values()
    conditions = [check.condition for check in checks if check.condition]

    assert len(conditions) == len({*conditions})
    for check in checks:
        assert not any(part in (check.pattern or "") for part in (*_ONLY_GO, *_ONLY_PYTHON)), check.name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["line"][:60])
def test_a_line_of_a_kernel_log_is_recognised_as_its_fault(case: dict[str, Any]) -> None:
    # Upstream appends \z to a pattern, and does not anchor its beginning (NPD:pkg/systemlogmonitor/log_buffer.go).
    of_log = [check for check in library_checks().values() if check.pattern]
    found = [check for check in of_log if re.search(rf"{check.pattern}\Z", case["line"])]
    hardest = max((list(HealthAction).index(check.action) for check in found), default=None)

    assert [check.name for check in found] == case["checks"]
    assert case["action"] == (None if hardest is None else list(HealthAction)[hardest])


def test_each_check_has_a_case() -> None:
    seen = {name for case in CASES for name in case["checks"]}

    # Docker's hung task pattern is upstream's, like that of XFS.
    of_log = {name for name, check in library_checks().items() if check.detector is Detector.KERNEL_LOG}
    assert of_log - seen == {"kernel-deadlock", "xfs-shut-down"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"action": "repair"}, "action"),
        ({"expression": None}, "detector"),
        ({"pattern": "a line of a log"}, "detector"),
        ({"detector": "kernel-log"}, "action"),
    ],
)
def test_a_check_has_the_fields_of_its_detector(changes: dict[str, Any], field: str) -> None:
    row = library_checks()["devices-missing"].model_dump(exclude_none=True)

    with pytest.raises(ValidationError) as refused:
        NodeCheck.model_validate({**row, **changes})

    assert field in str(refused.value)


def test_every_type_of_the_references_has_checks_of_its_hardware() -> None:
    region = load_environment("us-east-04a", paths.ROOT / "environments")
    parts = {
        name: {check.part.value for check in checks_of(region, kind)}
        for name, kind in region.instance_types.by_name.items()
    }

    assert parts["cpu-gen4"] == {"any"}
    assert parts["h100-ib-8"] == {"any", "gpu", "nvlink", "nvswitch"}
    assert parts["gb200-nvl72"] == {"any", "gpu", "nvlink"}
    assert all("gpu" in found for name, found in parts.items() if region.instance_types.by_name[name].gpu)


def test_an_override_changes_the_named_check() -> None:
    laptop = load_environment("laptop", paths.ROOT / "environments")
    override = HealthOverride(check="gpu-lost", instance_types=("h100-ib-8",), hold_seconds=900, reason="slow drains")
    changed = laptop.model_copy(update={"health": HealthCatalog(schema_version=1, health_overrides=(override,))})

    by_type = checks_by_type(changed, ("h100-ib-8", "h200-ib-8"))
    found = {name: {check.name: check for check in checks}["gpu-lost"] for name, checks in by_type.items()}

    assert (found["h100-ib-8"].hold_seconds, found["h100-ib-8"].action) == (900, HealthAction.REPAIR)
    assert found["h200-ib-8"] == library_checks()["gpu-lost"]


@pytest.mark.parametrize(
    ("fields", "when_idle"),
    [
        ({}, HealthAction.REPAIR),
        ({"hold_seconds": 900}, HealthAction.REPAIR),
        ({"action": "quarantine"}, None),
        ({"action": "notify"}, None),
    ],
)
def test_an_override_of_the_action_ends_the_action_on_idle_nodes(
    fields: dict[str, Any], when_idle: HealthAction | None
) -> None:
    laptop = load_environment("laptop", paths.ROOT / "environments")
    overrides = [{"check": "gpu-reset-required", "reason": "measured", **fields}] if fields else []
    health = HealthCatalog.model_validate({"schema_version": 1, "health_overrides": overrides})

    checks = checks_of(laptop.model_copy(update={"health": health}), laptop.instance_types.by_name["h100-ib-8"])

    assert {check.name: check.when_idle for check in checks}["gpu-reset-required"] == when_idle


@pytest.mark.parametrize(
    ("name", "tested", "requests"),
    [
        ("laptop", True, ["reboot-requested", "reboot-when-idle-requested"]),
        ("laptop", False, ["reboot-requested"]),
        ("eu-south-03a", True, []),
    ],
)
def test_a_reboot_can_be_requested_if_the_host_can_be_rebooted(name: str, requests: list[str], *, tested: bool) -> None:
    environment = load_environment(name, paths.ROOT / "environments")
    nodes = environment.region.nodes.model_copy(update={"tests": NodeTestsSpec() if tested else None})
    region = environment.region.model_copy(update={"nodes": nodes})

    checks = checks_of(
        environment.model_copy(update={"region": region}), environment.instance_types.by_name["cpu-gen4"]
    )

    assert [check.name for check in checks if check.requested] == requests


def test_a_requested_reboot_reboots() -> None:
    row = library_checks()["reboot-when-idle-requested"].model_dump(exclude_none=True, exclude={"when_idle"})

    with pytest.raises(ValidationError, match="requires repair as action or when_idle"):
        NodeCheck.model_validate(row)


@pytest.mark.parametrize(("check", "when_idle"), [("gpu-lost", "repair"), ("gpu-reset-required", "quarantine")])
def test_only_a_quarantine_is_followed_by_a_repair(check: str, when_idle: str) -> None:
    row = library_checks()[check].model_dump(exclude_none=True)

    with pytest.raises(ValidationError, match="after a quarantine"):
        NodeCheck.model_validate({**row, "when_idle": when_idle})
