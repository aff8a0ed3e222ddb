"""Rendered rules in Prometheus' own promtool. `test_alert_series` evaluates them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.data.environment_data import REFERENCES
from tests.support.machine.built_programs import built
from tests.support.monitoring.alerts import rules_of

pytestmark = pytest.mark.nightly

_GROUP_FIELDS = {"name", "interval", "rules", "limit"}


def _checked(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([built("promtool"), "check", "rules", file], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("environment", REFERENCES)
def test_promtool_accepts_the_rules_of_a_region(environment: str, tmp_path: Path) -> None:
    """Rules of the store have the same groups, with further fields of VictoriaMetrics."""
    accepted = {}
    for number, item in enumerate(rules_of(environment)):
        groups = [
            {field: value for field, value in group.items() if field in _GROUP_FIELDS}
            for group in item.body["spec"]["groups"]
        ]
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps({"groups": groups}), encoding="utf-8")
        done = _checked(file)
        accepted[f"{item.cluster} {item.kind} {item.name}"] = (done.returncode, done.stderr)

    assert accepted
    assert {name: result for name, result in accepted.items() if result != (0, "")} == {}


def test_promtool_rejects_an_invalid_expression(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    rule = {"alert": "Invalid", "expr": "sum by (node"}
    file.write_text(json.dumps({"groups": [{"name": "a", "rules": [rule]}]}), encoding="utf-8")

    done = _checked(file)

    assert done.returncode != 0
    assert "parse error" in done.stderr
