"""``jacquard new`` writes valid data, and changes no existing file."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from jacquard.starters.hosts import HEADER
from jacquard.starters.region import renamed, with_halls
from tests.support.data.environment_data import ENVIRONMENTS, copy_data
from tests.support.data.repositories import committed
from tests.support.docs.walkthrough import Command, Edit, Script, steps

Invoke = Callable[..., Result]
ENGINE = {"up", "preview", "status", "down"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for environments that does not exist yet."""
    path = tmp_path / "empty" / "environments"
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(path))
    return path


@pytest.fixture
def new(invoke: Invoke, folder: Path) -> Invoke:
    """Run a command as a user without environments."""
    del folder
    return invoke


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_new_region_is_valid_and_includes_a_catalogue(new: Invoke, folder: Path) -> None:
    result = new("new", "edge-1", "--halls", "a,b")

    assert result.exit_code == 0, result.output
    made = [
        "edge-1/inventory/hall-a.csv",
        "edge-1/inventory/hall-b.csv",
        "edge-1/region.yaml",
        "edge-1/tenants/first.yaml",
    ]
    catalog = [f"catalog/{path.name}" for path in sorted((ENVIRONMENTS / "catalog").iterdir())]
    assert files(folder) == catalog + made
    assert result.stdout.splitlines() == [
        "environments: 11 new files",
        *[f"  {path}" for path in catalog + made],
        "next:",
        "  jacquard allocate edge-1  allocate the numbers and hosts that the data leave open",
        "  jacquard check edge-1     check data and policies",
        "  jacquard up edge-1        run it on this machine",
    ]
    assert new("allocate", "edge-1").exit_code == 0
    checked = new("check", "edge-1", "--format", "json")
    assert checked.exit_code == 0, checked.output
    assert json.loads(checked.stdout)[0]["advice"] == []


def test_the_steps_of_the_page_for_new_users_work_without_the_engine(new: Invoke, folder: Path) -> None:
    project = folder.parent
    shutil.copytree(ENVIRONMENTS / "catalog", folder / "catalog")
    committed(folder)
    shown = ""
    for step in steps("guides/first-region.md"):
        match step:
            case Edit():
                step.apply(project)
            case Script():
                step.run(project)
            case Command(words=("jacquard", verb, *rest)) if verb not in ENGINE:
                result = new(verb, *rest)
                assert result.exit_code == 0, f"{verb}: {result.output}"
                shown += result.output
    train = load_environment("edge-1", folder).tenants[0].clusters[0].pools[1]
    assert (train.name, train.nodes) == ("train", 8)
    page = (paths.ROOT / "docs" / "guides" / "first-region.md").read_text()
    blocks = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert blocks
    assert [block for block in blocks if block not in shown] == []


def test_like_copies_the_structure_without_tenants_and_hosts(invoke: Invoke, data_folder: Path) -> None:
    copy_data(data_folder.parent / "more", "us-east-04a")
    (data_folder.parent / "more" / "us-east-04a").rename(data_folder / "us-east-04a")

    result = invoke("new", "us-west-1", "--like", "us-east-04a", "--format", "json")

    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    halls = [f"us-west-1/inventory/hall-{hall}.csv" for hall in "abcd"]
    assert answer["files"] == [*halls, "us-west-1/region.yaml"]
    assert [command.split()[1] for command in answer["next"]] == ["inventory", "allocate", "check"]
    before = (data_folder / "us-east-04a" / "region.yaml").read_text()
    assert (data_folder / "us-west-1" / "region.yaml").read_text() == before.replace("us-east-04a", "us-west-1")
    for name in halls:
        other = data_folder / name.replace("us-west-1", "us-east-04a")
        assert (data_folder / name).read_text() == other.read_text().splitlines(keepends=True)[0]
    assert invoke("allocate", "us-west-1").exit_code == 0
    refused = invoke("check", "us-west-1")
    assert refused.exit_code == ExitCode.BAD_DATA
    assert "overlaps networks.management of us-east-04a" in refused.stderr, (
        "numbers of the other region are still there"
    )


def test_other_halls_are_written_as_yaml_needs_them(invoke: Invoke, data_folder: Path) -> None:
    result = invoke("new", "desk-2", "--like", "laptop", "--halls", "x, 1,no")

    assert result.exit_code == 0, result.output
    note = "note: the address ranges are those of laptop; regions that share a backbone need different ones"
    assert note in result.stderr
    text = (data_folder / "desk-2" / "region.yaml").read_text()
    assert '  - {name: desk, halls: [x, "1", "no"]}\n' in text
    assert "registry.desk-2.cloud.example" in text


def test_all_errors_are_reported_together_and_nothing_is_written(new: Invoke, folder: Path) -> None:
    result = new("new", "Edge_1", "--halls", "a,B,a")

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "error: region 'Edge_1' is invalid; write a letter, then lower-case letters, digits and '-', at most 63",
        "--halls: 'B' is invalid; write lower-case letters, digits and '-', such as a,b",
        "--halls: a is duplicated; name each hall once",
    ]
    assert not folder.exists()


def test_an_existing_folder_is_never_changed(invoke: Invoke, data_folder: Path) -> None:
    before = files(data_folder)

    result = invoke("new", "laptop")

    assert result.exit_code == 2
    remedy = "choose another name, or edit the existing files"
    assert result.stderr == f"error: {data_folder / 'laptop'} already exists; {remedy}\n"
    assert files(data_folder) == before


def test_halls_of_several_sites_are_for_the_data(invoke: Invoke, data_folder: Path, edit: Callable[..., None]) -> None:
    edit(
        data_folder / "laptop" / "region.yaml",
        "{name: desk, halls: [a]}",
        "{name: desk, halls: [a]}\n  - {name: attic, halls: [b]}",
    )
    (data_folder / "laptop" / "inventory" / "hall-b.csv").write_text(HEADER)

    result = invoke("new", "desk-2", "--like", "laptop", "--halls", "x")

    assert result.exit_code == 2
    assert result.stderr == "error: --halls: laptop has 2 sites; omit --halls and edit 'sites' of the new region\n"


def test_more_halls_than_examples_have_addresses_for(new: Invoke) -> None:
    result = new("new", "edge-1", "--halls", ",".join(f"h{number}" for number in range(101)))

    assert result.exit_code == 2
    assert result.stderr == "error: --halls: at most 100 example halls are supported (got 101); name fewer halls\n"


def test_only_whole_words_of_a_name_are_replaced() -> None:
    assert renamed("lab, kind-lab, label: /x/lab # slab", "lab", "a") == "a, kind-a, label: /x/a # slab"


def test_halls_in_a_block_become_a_list_in_a_line() -> None:
    text = "sites:\n  - name: a\n    halls:\n      - x\n      - y1\nfailure_domain: rack # here\n"

    assert with_halls(text, ["b"]) == "sites:\n  - name: a\n    halls:\n      [b]\nfailure_domain: rack # here\n"
