"""Unit tests of alerts with recorded series, for vmalert-tool and for Prometheus' promtool.

Both get the same tests. promtool also gets the time at which vmalert-tool always starts.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.machine.built_programs import built

_FILE = Path(__file__).with_name("alert_cases.yaml")
_STARTS = 10
_CLOCK = "2000-01-01T00:00:00Z"
_SAMPLES = re.compile(r"x(\d+)$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_SELECTED = ("cluster", "namespace", "cronjob")
_STEP = 5
"""Minutes between the times at which no alert may fire."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Series with which an alert fires, and series with which it does not."""

    alert: str
    of: str
    """Part of the expression of the alert."""
    starts: int
    """Minute from which the expression is true."""
    edge: int
    """Minutes after `starts` in which one of both tools finds the expression true, and the other one does not yet."""
    ends: int | None
    """Minute from which it is no longer true; None if it stays true."""
    labels: Mapping[str, str] | None
    """Labels of the alert other than those of the rule; None for those of the first series."""
    fault: Mapping[str, str]
    healthy: Mapping[str, str]

    def is_about(self, rule: Mapping[str, Any]) -> bool:
        """Return whether ``rule`` is the alert of this case."""
        return rule["alert"] == self.alert and self.of in rule["expr"]


@cache
def cases() -> tuple[Case, ...]:
    """Return the recorded cases."""
    # Values stay text: YAML reads 0x40 as a number.
    rows = yaml.load(_FILE.read_bytes(), Loader=yaml.CBaseLoader)  # noqa: S506 - creates only texts, lists and mappings
    return tuple(_case(row, alert, value) for row in rows for alert, value in row["alerts"].items())


def _case(row: Mapping[str, Any], alert: str, value: str) -> Case:
    series = {
        key: {name.replace("$value", value): values for name, values in row[key].items()}
        for key in ("fault", "healthy")
    }
    return Case(
        alert=alert,
        of=row.get("of", ""),
        starts=int(row.get("starts", _STARTS)),
        edge=int(row.get("edge", 0)),
        ends=int(row["ends"]) if "ends" in row else None,
        labels=row.get("labels"),
        **series,
    )


def unit_tests(rule: Mapping[str, Any], case: Case) -> list[dict[str, Any]]:
    """Return the unit tests of ``rule`` with the series of ``case``."""
    hold = minutes(rule["for"])
    fires = {"exp_labels": _labels(rule, case), "exp_annotations": dict(rule["annotations"])}
    last = _length(case.fault)
    shown = [(minute, []) for minute in range(0, case.starts + hold, _STEP)]
    shown += [(case.starts + hold - 1, []), (case.starts + case.edge + hold, [fires])]
    kept = minutes(rule.get("keep_firing_for", "0m"))
    shown += [(case.ends + kept, []), (last, [])] if case.ends else [(last, [fires])]
    shown += [(case.ends, [fires])] if case.ends and kept else []
    never = [(minute, []) for minute in range(0, _length(case.healthy) + 1, _STEP)]
    return [_test("fault", rule, case.fault, shown), _test("healthy", rule, case.healthy, never)]


def _test(
    name: str, rule: Mapping[str, Any], series: Mapping[str, str], shown: list[tuple[int, list[Any]]]
) -> dict[str, Any]:
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": _filled(key, rule), "values": values} for key, values in series.items()],
        "alert_rule_test": [
            {"eval_time": f"{at}m", "alertname": rule["alert"], "exp_alerts": alerts}
            for at, alerts in sorted(shown, key=lambda item: item[0])
        ],
    }


def cluster_of(rule: Mapping[str, Any]) -> str:
    """Return the cluster that the expression of ``rule`` selects; empty if there is none."""
    return _selected(rule, "cluster")


def _selected(rule: Mapping[str, Any], label: str) -> str:
    found = re.search(rf'\b{label}="([^"]*)"', rule["expr"])
    return found[1] if found else ""


def _filled(text: str, rule: Mapping[str, Any]) -> str:
    """Return ``text`` with the labels that the expression of ``rule`` selects."""
    for label in _SELECTED:
        text = text.replace(f"${label}", _selected(rule, label))
    return text


def _labels(rule: Mapping[str, Any], case: Case) -> dict[str, str]:
    of_series = (
        dict(_LABEL.findall(_filled(next(iter(case.fault)), rule))) if case.labels is None else dict(case.labels)
    )
    return {**of_series, **rule["labels"]}


def _length(series: Mapping[str, str]) -> int:
    """Return the minute of the last sample of all series."""
    return max(sum(_count(part) for part in values.split()) for values in series.values()) - 1


def _count(part: str) -> int:
    found = _SAMPLES.search(part)
    if found is None:
        return 1
    return int(found[1]) + (0 if part.startswith("_") else 1)


def minutes(duration: str) -> int:
    """Return ``duration`` in minutes."""
    unit = {"s": 1, "m": 60}[duration[-1]]
    return int(duration[:-1]) * unit // 60


def vmalert_tool(folder: Path, rules: Iterable[Mapping[str, Any]], tests: Iterable[Mapping[str, Any]]) -> str:
    """Return the output of unit tests of ``rules``, an alert after its recording rules; empty if they pass."""
    file = _written(folder, rules, tests)
    return _output(built("vmalert-tool"), "unittest", "--disableAlertgroupLabel", f"--files={file}")


def promtool(folder: Path, rules: Iterable[Mapping[str, Any]], tests: Iterable[Mapping[str, Any]]) -> str:
    """Return the same as `vmalert_tool`, from promtool."""
    file = _written(folder, rules, [{**test, "start_timestamp": _CLOCK} for test in tests])
    return _output(built("promtool"), "test", "rules", file)


def _written(folder: Path, rules: Iterable[Mapping[str, Any]], tests: Iterable[Mapping[str, Any]]) -> Path:
    """Write the files of unit tests; return that of the tests.

    A rule that reads another rule is in a later group: vmalert-tool evaluates the rules of a group at the same time, so
    that an alert would read the former value of its recording rule. Each further group takes as long as the first one.
    """
    groups = [{"name": f"group-{number}", "rules": found} for number, found in enumerate(_grouped(rules))]
    content = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "group_eval_order": [group["name"] for group in groups],
        "tests": list(tests),
    }
    (folder / "rules.yaml").write_text(json.dumps({"groups": groups}), encoding="utf-8")
    file = folder / "test.yaml"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def _grouped(rules: Iterable[Mapping[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return ``rules`` in groups, in order, of rules that do not read each other."""
    groups: list[list[dict[str, Any]]] = []
    for rule in rules:
        if not groups or any(other.get("record", "\0") in rule["expr"] for other in groups[-1]):
            groups.append([])
        groups[-1].append(dict(rule))
    return groups


def _output(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
