"""``jacquard schema`` and ``jacquard migrate``: output, written files, and unchanged files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.specs.reading import migrations, reference, schema
from components.specs.reading.kinds import KINDS, data_files
from components.specs.reading.migrations import Around, Migrations
from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved

MADE = f'{{"$comment": "{schema.MARK}"}}\n'
Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_schema_writes_all_generated_files_once(invoke: Invoke, data_folder: Path) -> None:
    root = data_folder.parent
    first, second = invoke("schema", "--write"), invoke("schema")

    assert (first.exit_code, second.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert {path.name for path in (root / "schemas").iterdir()} == {
        *(schema.file_name(kind) for kind in KINDS),
        "border.schema.json",
        "drift.schema.json",
        "facts.schema.json",
        "host-test-report.schema.json",
        "impact.schema.json",
        "network-partitions.schema.json",
        "network-path.schema.json",
        "network.schema.json",
        "offerings.schema.json",
        "platform-images.schema.json",
        "policies.schema.json",
        "prerequisites.schema.json",
        "preview.schema.json",
        "rendered-diff.schema.json",
    }
    assert {path.name for path in (root / "docs" / "reference").iterdir()} == {
        *reference.pages(),
        "commands.md",
        "policies.md",
        "policy-catalogue.md",
    }
    headed = sum(not kind.locked for _, kind in data_files(data_folder))
    assert second.output == f"{len(KINDS) + len(reference.pages()) + 18 + headed} files current\n"


def test_schema_without_write_names_outdated_files_and_changes_nothing(invoke: Invoke, data_folder: Path) -> None:
    root = data_folder.parent
    invoke("schema", "--write")
    (root / "schemas" / "region.schema.json").write_text(MADE)
    (root / "schemas" / "old.schema.json").write_text(MADE)
    tenant = data_folder / "laptop" / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().partition("\n")[2])
    before = tree(root)

    result = invoke("schema")

    assert result.exit_code == ExitCode.FAILED
    assert result.stdout.splitlines()[:-1] == [
        "environments/laptop/tenants/acme.yaml: not current",
        "schemas/region.schema.json: not current",
        "schemas/old.schema.json: not current",
    ]
    assert result.stderr == "error: 3 files not current; run 'jacquard schema --write' and review the change\n"
    assert tree(root) == before


def test_schema_writes_a_missing_header_and_removes_schemas_without_a_kind(invoke: Invoke, data_folder: Path) -> None:
    root = data_folder.parent
    invoke("schema", "--write")
    before = tree(root)
    (root / "schemas" / "old.schema.json").write_text(MADE)
    (root / "docs" / "reference" / "old.md").write_text(reference.MARK)
    (root / "docs" / "reference" / "mine.md").write_text("# by hand\n")
    tenant = data_folder / "laptop" / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().partition("\n")[2])

    answer = json.loads(invoke("schema", "--write", "--format", "json").stdout)

    assert answer["stale"] == [
        "environments/laptop/tenants/acme.yaml", "docs/reference/old.md", "schemas/old.schema.json",
    ]  # fmt: skip
    assert answer["written"] is True
    assert tree(root) == {**before, "docs/reference/mine.md": b"# by hand\n"}


@pytest.mark.parametrize(
    "name", ["schemas/region.schema.json", "docs/reference/README.md", "docs/reference/policies.md"]
)
def test_schema_overwrites_no_foreign_file(invoke: Invoke, data_folder: Path, name: str) -> None:
    root = data_folder.parent
    (root / name).parent.mkdir(parents=True)
    (root / name).write_text("# mine\n")
    (root / "schemas").mkdir(exist_ok=True)
    (root / "schemas" / "mine.schema.json").write_text("{}\n")
    before = tree(root)

    result = invoke("schema", "--write")

    text = f"error: {name}: exists and was not written by 'jacquard schema'; move or remove it first\n"
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, text)
    assert tree(root) == before


def test_schema_keeps_foreign_schemas(invoke: Invoke, data_folder: Path) -> None:
    mine = data_folder.parent / "schemas" / "mine.schema.json"
    mine.parent.mkdir()
    mine.write_text("{}\n")

    assert invoke("schema", "--write").exit_code == ExitCode.OK
    assert mine.read_text() == "{}\n"


def test_schema_does_not_change_lock_files(invoke: Invoke, data_folder: Path) -> None:
    locks = {path: path.read_bytes() for path in data_folder.rglob("*.lock.yaml")}

    invoke("schema", "--write")

    assert locks
    assert {path: path.read_bytes() for path in locks} == locks


def test_schema_names_an_unreadable_file(invoke: Invoke, data_folder: Path) -> None:
    (data_folder / "laptop" / "tenants" / "acme.yaml").write_bytes(b"schema_version: 1\ntenant: \xff\n")

    result = invoke("schema", "--write")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        "environments/laptop: 1 problem\n  tenants/acme.yaml:2  is not UTF-8 (byte 0xff); save the file as UTF-8\n"
    )


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next version of the format, in which a tenant's contacts are named people."""

    def rename(document: Any, _: Around) -> Any:
        document.insert(list(document).index("contacts"), "people", document.pop("contacts"))
        return document

    registered: Mapping[str, Any] = {"tenant": {1: rename}}
    now = migrations.moves

    def moves(folder: Path, environment: str, _: Migrations) -> Any:
        kinds = tuple(kind for kind in KINDS if not kind.locked)
        monkeypatch.setattr("components.specs.reading.migrations.KINDS", kinds)
        return now(folder, environment, registered, lambda _: 2)

    monkeypatch.setattr("jacquard.cli.upgrades.migrations.moves", moves)


def test_migrate_has_no_changes_if_all_files_are_current(invoke: Invoke, data_folder: Path) -> None:
    before = tree(data_folder)
    count = len(list(data_files(data_folder)))

    result = invoke("migrate")

    assert (result.exit_code, result.output) == (ExitCode.OK, f"{count} files current\n")
    assert tree(data_folder) == before


@pytest.mark.usefixtures("next_version")
def test_migrate_check_names_the_files_and_writes_nothing(invoke: Invoke, data_folder: Path) -> None:
    before = tree(data_folder)

    result = invoke("migrate", "laptop", "--check")

    assert result.exit_code == ExitCode.FAILED
    lines = result.stdout.splitlines()
    assert lines[-1] == "0 files current"
    assert "environments/laptop/tenants/acme.yaml: version 1 -> 2" in lines
    assert "environments/catalog/images.yaml: version 1 -> 2" in lines
    found = f"{len(lines) - 1} files in an older format"
    assert result.stderr == f"error: {found}; run 'jacquard migrate' and review the change\n"
    assert tree(data_folder) == before


@pytest.mark.usefixtures("next_version")
def test_migrate_writes_the_changes_of_the_format(invoke: Invoke, data_folder: Path) -> None:
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    before = file.read_text()

    first, second = invoke("migrate", "laptop"), invoke("migrate", "laptop", "--check")

    assert (first.exit_code, second.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert file.read_text() == before.replace("schema_version: 1", "schema_version: 2").replace("contacts:", "people:")


@pytest.mark.usefixtures("next_version")
def test_migrate_writes_nothing_when_one_file_cannot_be_moved(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "tenants" / "globex.yaml", "schema_version: 1", "schema_version: 9")
    edit(data_folder / "laptop" / "region.yaml", "schema_version: 1\n", "")
    before = tree(data_folder)

    result = invoke("migrate")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == resolved(
        "environments/laptop: 2 problems\n"
        "  region.yaml:LINE  schema_version: is required; add schema_version: <version of the file>, "
        "2 for a new file\n"
        "  tenants/globex.yaml:LINE  schema_version: is 9, but this jacquard supports at most 2; update jacquard\n"
        "error: nothing was migrated\n",
        data_folder / "laptop",
    )
    assert tree(data_folder) == before


@pytest.mark.usefixtures("next_version")
def test_migrate_answers_as_data(invoke: Invoke) -> None:
    answer = json.loads(invoke("migrate", "laptop", "--format", "json").stdout)

    assert {"file": "environments/laptop/region.yaml", "before": 1, "after": 2, "written": True} in answer
