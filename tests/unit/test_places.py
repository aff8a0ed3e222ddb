"""Expected texts name lines of the examples by markers; markers without a matching line are errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.machine import paths
from tests.support.checks.places import FILE, resolved
from tests.support.data.environment_data import ENVIRONMENTS

TESTS = paths.ROOT / "tests"
OWN = {
    "support/data/hostile_files.py": {"acme.yaml", "hall-a.csv", "allocations.lock.yaml"},
    "unit/cli/verbs/test_cli_fleet.py": {"fleet.yaml"},
    "unit/cli/verbs/data/test_cli_formats.py": {"acme.yaml"},
    "unit/cli/verbs/data/test_cli_host.py": {"out_of_service.yaml"},
    "unit/cli/verbs/data/test_cli_host_states.py": {"out_of_service.yaml"},
    "unit/cli/verbs/data/test_cli_place.py": {"fleet.yaml"},
    "unit/rules/fleet/test_fleet_rules.py": {"fleet.yaml"},
    "unit/specs/reading/test_lines.py": {"region.yaml", "hall-a.csv", "allocations.lock.yaml", "images.lock.yaml",
                                         "out_of_service.yaml"},
    "unit/specs/reading/test_specs_migrations.py": {"out_of_service.yaml", "policy.yaml"},
    "unit/test_places.py": {"region.yaml"},
}  # fmt: skip
"""Files of examples' names that a test writes completely, or keeps in a separate folder."""
_NUMBERED = re.compile(rf"({FILE}):(\d+)")
_LIKELY = re.compile(r"(?:yaml|csv|\}):\d")
_EXAMPLES = {path.name for path in ENVIRONMENTS.rglob("*") if path.is_file()}
_DATA = "schema_version: 1\nvpcs:\n  - {name: one, pods: /16}\n  - {name: two, pods: /16}\n"


def test_no_expected_text_spells_a_line_of_the_examples() -> None:
    found = [f"{path.relative_to(paths.ROOT)}: {place}" for path in _files() for place in sorted(_numbered(path))]

    assert found == [], "write a marker for the line, see tests/support/checks/places.py"


def test_a_spelt_line_is_found_in_text_in_parts_and_with_a_constant(tmp_path: Path) -> None:
    path = tmp_path / "test_spelt.py"
    path.write_text(
        'REGION = "region.yaml"\nnumber = 3\ntold = f"{REGION}:12  networks"\nother = ("(../laptop/region"\n'
        '    f".yaml:17, {number})")\nline = f"{REGION}:{number}"\nstart = "region.yaml:1"\n'
        'file = "no_example.yaml:7"\n'
    )

    assert _numbered(path) == {"region.yaml:12", "../laptop/region.yaml:17"}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a.yaml:LINE  vpcs[1].pods: is wrong", "a.yaml:4  vpcs[1].pods: is wrong"),
        ("a.yaml:LINE vpcs[0].hosts: is required", "a.yaml:3 vpcs[0].hosts: is required"),
        ("is also in one (../here/a.yaml:<vpcs.one.pods>), and", "is also in one (../here/a.yaml:3), and"),
        (
            "a.yaml:LINE  vpcs: is defined twice, first on line <vpcs.two>",
            "a.yaml:2  vpcs: is defined twice, first on line 4",
        ),
        ("see a.yaml:<'pods: /16'#2>", "see a.yaml:4"),
        ("  a.yaml:LINE  vpcs: x\n  a  y", "  a.yaml:2  vpcs: x\n  a         y"),
        ("  found:   a.yaml:<vpcs>\n  why:     b", "  found:   a.yaml:2\n  why:     b"),
        ("a.yaml  and a.yaml:1  stay", "a.yaml  and a.yaml:1  stay"),
    ],
)
def test_markers_are_lines_of_the_data(tmp_path: Path, text: str, lines: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a.yaml").write_text(_DATA)

    assert resolved(text, folder) == lines


@pytest.mark.parametrize(
    "mark",
    ["LINE", "LINE is wrong", "<vpcs.three>", "<vpcs[2]>", "<vpc>", "<vpcs#2>", "<'pods'>", "<'ports'>"],
)
def test_a_marker_that_does_not_mean_one_line_fails(tmp_path: Path, mark: str) -> None:
    (tmp_path / "a.yaml").write_text(_DATA)

    with pytest.raises(AssertionError, match=r"a\.yaml"):
        resolved(f"a.yaml:{mark}", tmp_path)


def test_a_missing_line_is_read_from_the_other_folder(tmp_path: Path) -> None:
    for name, text in (("head", _DATA.replace("  - {name: one, pods: /16}\n", "")), ("base", _DATA)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(text)

    both = (tmp_path / "head", tmp_path / "base")
    assert resolved("by a.yaml:<vpcs.one> a.yaml:<vpcs.two>", *both) == "by a.yaml:3 a.yaml:3"


def _files() -> Iterator[Path]:
    for pattern in ("**/*.py", "unit/**/*.yaml"):
        yield from (path for path in sorted(TESTS.glob(pattern)) if "lines" not in path.parts)


def _numbered(path: Path) -> set[str]:
    """Return the places with a line number in the texts of a file, except line 1, which is constant."""
    text = path.read_text(encoding="utf-8")
    own = OWN.get(path.relative_to(TESTS).as_posix(), set()) if path.is_relative_to(TESTS) else set()
    texts = [] if not _LIKELY.search(text) else _texts(text) if path.suffix == ".py" else [text]
    return {
        match[0]
        for line_text in texts
        for match in _NUMBERED.finditer(line_text)
        if int(match[2]) > 1 and Path(match[1]).name in _EXAMPLES - own
    }


def _texts(source: str) -> Iterator[str]:
    """Yield the texts in Python code, each complete and with the constants of its module inserted."""
    tree = ast.parse(source)
    known = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(_filled(part, known) for part in node.values)


def _filled(part: ast.expr, known: dict[str, str]) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    value = part.value if isinstance(part, ast.FormattedValue) else None
    return known.get(value.id, "?") if isinstance(value, ast.Name) else "?"
