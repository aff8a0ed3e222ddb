"""Literal line numbers for each kind of position, in files of this test that do not depend on the examples.

All other tests name lines of the data by markers (``places.py``).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from components.specs.reading.fixes import fixed_files
from components.specs.reading.inventory_csv import read_inventory
from components.specs.reading.loader import load_environment
from components.specs.reading.positions import Positions
from components.specs.reading.problems import Problem, SpecError
from components.specs.reading.strict_yaml import StrictYamlReader
from tests.support.checks.places import line_of
from tests.support.data.environment_data import copy_data

FOLDER = Path(__file__).parent / "lines"
_FIRST = re.compile(r"first on line \d+")

REPORTED = {
    "a value of a lock file in braces, on the line of its opening brace": (
        "allocations.lock.yaml:4",
        "vpcs.bee.route_target",
    ),
    "a value of a lock file in braces, on a further line": ("allocations.lock.yaml:5", "vpcs.bee.vni"),
    "the last of three equal keys of a lock file": ("allocations.lock.yaml:11", "hosts.a01-u01 first on line 7"),
    "a conflict": ("images.lock.yaml:3", ""),
    "a cell": ("inventory/hall-a.csv:3", "slot"),
    "an empty row": ("inventory/hall-a.csv:4", ""),
    "a cell without quotes": ("inventory/hall-a.csv:5", "boot_mac"),
    "a short row": ("inventory/hall-a.csv:6", ""),
    "a repeated header": ("inventory/hall-a.csv:7", ""),
    "a cell in the last row": ("inventory/hall-a.csv:8", "host"),
    "a missing key of a mapping that is keyed by host": ("out_of_service.yaml:4", "hosts.a01-u02.reason"),
    "a value below a host": ("out_of_service.yaml:5", "hosts.a01-u02.state"),
    "a missing key of the first level": ("region.yaml:1", "dpus"),
    "another missing key of the first level": ("region.yaml:1", "storage"),
    "a value of the first level": ("region.yaml:10", "stage"),
    "a missing key of the second level": ("region.yaml:11", "networks.vni"),
    "a value after a comment": ("region.yaml:14", "networks.management"),
    "a value on the line after its key": ("region.yaml:15", "networks.bmc"),
    "a value of a quoted key": ("region.yaml:17", "networks.tenants"),
    "an entry in brackets, on the line of its opening bracket": ("region.yaml:18", "networks.deny[0]"),
    "an entry in brackets, on a further line": ("region.yaml:19", "networks.deny[1]"),
    "an entry in brackets, after an empty line": ("region.yaml:21", "networks.deny[2]"),
    "an entry after a dash": ("region.yaml:29", "sites[0].halls[1]"),
    "an entry of the second entry": ("region.yaml:32", "sites[1].halls[1]"),
    "an unknown key": ("region.yaml:34", "sites[1].hall"),
    "the second of two equal keys": ("region.yaml:37", "control_planes first on line 35"),
    "a value in braces, on the line of its opening brace": ("tenants/bee.yaml:3", "contacts.alerts"),
    "a value in braces, on a further line": ("tenants/bee.yaml:4", "contacts.changes"),
    "a block of text": ("tenants/bee.yaml:8", "quotas.load_balancers"),
    "a missing key of an entry": ("tenants/bee.yaml:11", "vpcs[0].isolation"),
    "a missing key of an entry whose dash is alone on its line": ("tenants/bee.yaml:17", "vpcs[1].pods"),
    "a value of an entry whose dash is alone on its line": ("tenants/bee.yaml:21", "vpcs[1].isolation"),
    "a value of an entry in braces, on a further line": ("tenants/bee.yaml:23", "vpcs[2].pods"),
    "a value of an entry of an entry": ("tenants/bee.yaml:31", "clusters[0].pools[0].nodes"),
    "a missing key of an entry of an entry": ("tenants/bee.yaml:32", "clusters[0].pools[1].instance_type"),
    "a value after an empty line": ("tenants/bee.yaml:34", "clusters[0].pools[1].nodes"),
    "a key with a dot and a slash": ("tenants/bee.yaml:36", "clusters[0].pools[1].labels.a.b/c"),
    "the last line of a file": ("tenants/bee.yaml:37", "clusters[0].pools[1].labels.team"),
    "a bracket that is not closed": ("tenants/cat.yaml:5", ""),
    "an indentation that matches no line": ("tenants/dog.yaml:5", ""),
}
"""Place and path in the report of the files in ``lines/broken``, in its order."""


@pytest.fixture
def problems(tmp_path: Path) -> list[Problem]:
    root = copy_data(tmp_path / "environments")
    shutil.copytree(FOLDER / "broken", root / "broken")
    with pytest.raises(SpecError) as caught:
        load_environment("broken", root)
    return list(caught.value.problems)


def test_a_report_has_the_line_of_each_place(problems: list[Problem]) -> None:
    found = [(one.place, " ".join([*filter(None, [one.path]), *_FIRST.findall(one.text)])) for one in problems]

    assert found == list(REPORTED.values())


def test_a_fix_has_the_line_of_the_original_file() -> None:
    assert [f"{fix.file}:{fix.line}" for item in fixed_files(FOLDER, "broken") for fix in item.fixes] == [
        "tenants/bee.yaml:3",
        "tenants/bee.yaml:4",
        "tenants/bee.yaml:37",
        "inventory/hall-a.csv:5",
        "inventory/hall-a.csv:4",
        "inventory/hall-a.csv:7",
    ]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("region",), 4),
        (("networks",), 11),
        (("networks", "bmc"), 15),
        (("networks", "deny"), 18),
        (("networks", "deny", 0), 18),
        (("networks", "deny", 2), 21),
        (("sites", 0), 26),
        (("sites", 0, "halls"), 27),
        (("sites", 0, "halls", 0), 28),
        (("sites", 1), 30),
        (("sites", 1, "halls", 0), 31),
        (("control_planes",), 35),
        (("control_planes", "data_stores"), 36),
        (("networks", "vni"), 11),
        (("networks", "bmc", "no", "such", "value"), 15),
        (("no such key",), 1),
        ((), 1),
    ],
)
def test_a_value_has_its_line_and_one_that_is_missing_that_of_the_value_around_it(
    path: tuple[str | int, ...], line: int
) -> None:
    text = (FOLDER / "broken" / "region.yaml").read_text(encoding="utf-8")
    _, place = StrictYamlReader("region.yaml").read(text)

    assert Positions({"region.yaml": place}).line("region.yaml", path) == line


def test_a_row_has_its_line_by_number_and_by_host_and_an_unknown_file_has_none() -> None:
    text = (FOLDER / "hall-b.csv").read_text(encoding="utf-8")
    hosts, place, problems = read_inventory("inventory/hall-b.csv", text, "b")
    lines = Positions({"inventory/hall-b.csv": place})

    assert ([host.host for host in hosts], problems) == (["b01-u01", "b01-u02"], ())
    assert [lines.line("inventory/hall-b.csv", (step,)) for step in ("b01-u01", "b01-u02", 3)] == [2, 3, 3]
    assert lines.line("inventory/hall-c.csv", ("b01-u01",)) == 0


@pytest.mark.parametrize(
    ("file", "mark", "line"),
    [
        ("region.yaml", "stage", 10),
        ("region.yaml", "networks.bmc", 15),
        ("region.yaml", "networks.tenants", 17),
        ("region.yaml", "networks.deny[2]", 21),
        ("region.yaml", "sites.second.halls[1]", 32),
        ("region.yaml", "sites[1].hall", 34),
        ("region.yaml", "control_planes#1", 35),
        ("region.yaml", "control_planes#2", 37),
        ("region.yaml", "'# A key that is unknown'", 33),
        ("region.yaml", "''#2", 8),
        ("tenants/bee.yaml", "vpcs.two", 17),
        ("tenants/bee.yaml", "clusters.bee-one.pools.big.labels.a.b/c", 36),
        ("allocations.lock.yaml", "hosts.a01-u01#3", 11),
        ("inventory/hall-a.csv", "a01-u04", 5),
        ("inventory/hall-a.csv", "host#2", 7),
        ("inventory/hall-a.csv", "''", 4),
    ],
)
def test_a_marker_of_an_expected_text_has_the_same_line(file: str, mark: str, line: int) -> None:
    assert line_of(FOLDER / "broken" / file, mark) == line
