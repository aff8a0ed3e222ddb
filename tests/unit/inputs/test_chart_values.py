"""Values of rendered releases, compared with the values of the charts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.render.network import ovn_services
from components.render.overrides import Override, overridden
from components.specs.add_ons.add_on_values import ChartValue, Tunable, ValueType, unmet_requirement
from components.specs.reading.loader import load_environment
from tests.support.add_ons.chart_values import Record, chart_of, record, releases, values_of
from tests.support.data.environment_data import ENVIRONMENTS

EXAMPLES: dict[ValueType, ChartValue] = {
    ValueType.BOOLEAN: True,
    ValueType.COUNT: 4,
    ValueType.CPU: "500m",
    ValueType.MEMORY: "512Mi",
    ValueType.DURATION: "30m",
}


def test_every_value_that_a_release_sets_is_one_of_its_chart_and_of_the_right_type() -> None:
    wrong = {
        f"{chart_of(item)} {text}"
        for item in releases()
        if (found := record(chart_of(item))) is not None
        for text in found.wrong(values_of(item))
    }

    assert wrong == set()


def test_every_chart_that_is_installed_has_a_record() -> None:
    assert {chart_of(item) for item in releases() if record(chart_of(item)) is None} == set()


def test_every_value_of_ovn_on_dpus_is_one_of_its_chart() -> None:
    laptop = load_environment("laptop", ENVIRONMENTS)
    specs = {
        item.body["spec"]["deploymentServiceName"]: item.body["spec"]
        for part in slices(laptop)
        for item in objects(manifests(laptop, part))
        if item.kind == "DPUServiceConfiguration"
    }

    wrong = {
        service: list(found.wrong(specs[service]["serviceConfiguration"]["helmChart"]["values"]))
        for service, chart in ovn_services.SERVICES.items()
        if (found := record(chart)) is not None
    }
    assert wrong == {"ovn-controller": [], "vpc-ovn-node": []}


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"replicas": 3, "image": {"tag": "v1"}, "labels": {"a.b/c": "d"}, "added": 1}, []),
        ({"later": "x", "unset": [1]}, []),
        ({"replica": 3}, ["replica: is no value of the chart"]),
        ({"replicas": "3"}, ["replicas: str, where the chart has 1"]),
        ({"replicas": True}, ["replicas: bool, where the chart has 1"]),
        (
            {"image": {"name": "x", "tag": ["v1"]}},
            ["image.name: is no value of the chart", "image.tag: list, where the chart has '<string>'"],
        ),
        ({"later": 1}, ["later: int, where the chart's schema has string"]),
        ({"image": "x"}, ["image: is no value of the chart"]),
        ({"a.b/c": {"d": 1}}, []),
        ({"selector": {"my.own/role": "system"}}, []),
    ],
)
def test_unknown_values_of_a_chart_are_reported_with_their_path(
    tmp_path: Path, values: dict[str, Any], wrong: list[str]
) -> None:
    file = tmp_path / "chart.json"
    whole = {
        "chart": "chart",
        "version_read": "1.0.0",
        "values": {
            "replicas": 1,
            "image.tag": "<string>",
            "labels": {},
            "unset": None,
            'selector."kubernetes.io/os"': "linux",
            '"a.b/c".d': 2,
        },
        "free_form": ["labels"],
        "read_by_templates_only": ["added"],
        "schema_only": {"later": "string"},
    }
    file.write_text(json.dumps(whole))

    assert [*Record(file).wrong(values)] == wrong


def test_every_tunable_value_of_the_catalogue_exists_in_its_chart_with_the_right_type() -> None:
    wrong = {
        f"{chart.name} {text}"
        for chart in load_environment("laptop", ENVIRONMENTS).versions.charts
        for path, tunable in chart.tunable.items()
        if (found := record(chart.name)) is not None
        for text in found.wrong(overridden({}, [Override(path=path, value=example(tunable), reason="-")]))
    }

    assert wrong == set()


def example(tunable: Tunable) -> ChartValue:
    """Return a value that ``tunable`` permits."""
    value = tunable[0] if isinstance(tunable, tuple) else EXAMPLES[tunable]
    assert unmet_requirement(value, tunable) == ""
    return value
