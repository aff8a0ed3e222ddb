"""Schemas, editor headers and the field reference: current, complete, and in agreement with the data."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from components.specs.base import DataFile
from components.specs.reading import reference, schema
from components.specs.reading.kinds import KINDS, FileKind, data_files
from components.specs.reading.strict_yaml import StrictYamlReader
from jacquard.machine import paths

FOLDER = paths.ROOT / "environments"
FILES = list(data_files(FOLDER))
BY_NAME = {kind.name: kind for kind in KINDS}


def read(path: Path) -> Any:
    data, _ = StrictYamlReader(path.name).read(path.read_text(encoding="utf-8"))
    return data


@cache
def schema_of(kind: FileKind) -> dict[str, Any]:
    return schema.schema(kind)


@cache
def pages() -> dict[str, str]:
    return reference.pages()


@cache
def validator(kind: FileKind) -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(schema_of(kind), format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)


def name(value: object) -> str:
    return str(value.relative_to(FOLDER)) if isinstance(value, Path) else ""


def subclasses(model: type[DataFile]) -> set[type[DataFile]]:
    below = set(model.__subclasses__())
    return below.union(*(subclasses(found) for found in below)) if below else {model}


def test_every_model_of_a_file_is_a_kind() -> None:
    models = {model for model in subclasses(DataFile) if model.__module__.startswith("components.specs.")}

    assert {kind.model for kind in KINDS} == {model for model in models if not model.__subclasses__()}


def test_every_file_of_every_environment_is_of_a_kind() -> None:
    # Pulumi's stack settings are next to the environments, not in one.
    expected = {path for path in FOLDER.glob("*/**/*.yaml") if "/." not in str(path)} | {FOLDER / "fleet.yaml"}

    assert {path for path, _ in FILES} == expected


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_schema_in_the_repository_is_current(kind: FileKind) -> None:
    assert (paths.ROOT / schema.FOLDER / schema.file_name(kind)).read_text("utf-8") == schema.schema_text(kind), (
        "run 'jacquard schema --write'"
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_schema_is_one(kind: FileKind) -> None:
    jsonschema.Draft7Validator.check_schema(schema_of(kind))


@pytest.mark.parametrize(("path", "kind"), [pair for pair in FILES if not pair[1].locked], ids=name)
def test_the_first_line_of_a_data_file_leads_an_editor_to_its_schema(path: Path, kind: FileKind) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]

    assert first.startswith(schema.HEADER), "run 'jacquard schema --write'"
    assert (path.parent / first.removeprefix(schema.HEADER)).resolve() == (
        paths.ROOT / schema.FOLDER / schema.file_name(kind)
    )


@pytest.mark.parametrize(("path", "kind"), FILES, ids=name)
def test_every_data_file_fits_its_schema(path: Path, kind: FileKind) -> None:
    assert [error.message for error in validator(kind).iter_errors(read(path))] == []


def test_schemas_are_closed_at_every_depth() -> None:
    for kind in KINDS:
        for found in mappings(schema_of(kind)):
            assert found.get("additionalProperties", True) is not True, found


def mappings(found: Any) -> list[dict[str, Any]]:
    if isinstance(found, list):
        return [inner for item in found for inner in mappings(item)]
    if not isinstance(found, dict):
        return []
    here = [found] if found.get("type") == "object" else []
    return here + [inner for item in found.values() for inner in mappings(item)]


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("region", ("networks", "vni"), "10000 - 19999"),
        ("region", ("networks", "management"), "10.0.0.0"),
        ("region", ("stage",), "prod"),
        ("region", ("spares",), "200%"),
        ("region", ("spare",), "2%"),
        ("tenant", ("vpcs", 0, "pods"), "16"),
        ("tenant", ("vpcs", 0, "pods"), 16),
        ("tenant", ("clusters", 0, "pools", 0, "nodes"), "2"),
        ("tenant", ("clusters", 0, "pools", 0, "labels"), {"example.com/x": "y"}),
        ("tenant", ("clusters", 0, "version"), "1.35.2"),
        ("images", ("images", 0, "sha256"), "abc"),
        ("images", ("images", 0, "released"), "3 November 2026"),
    ],
)
def test_editors_underline_values_that_the_loader_rejects(
    kind: str, path: tuple[str | int, ...], value: object
) -> None:
    folder = FOLDER if BY_NAME[kind].shared else FOLDER / "laptop"
    data = read(min(folder.glob(BY_NAME[kind].path)))
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value

    found = {tuple(error.absolute_path) for error in validator(BY_NAME[kind]).iter_errors(data)}

    assert found in ({path}, {path[:-1]})  # An unknown key is reported at its mapping.


def test_the_words_of_an_enum_are_explained() -> None:
    rollout = schema_of(BY_NAME["tenant"])["definitions"]["RolloutStrategy"]

    assert rollout["enum"] == ["rolling", "idle"]
    assert rollout["enumDescriptions"][0] == (
        "The controller replaces nodes immediately, at most `max_unavailable` at the same time."
    )


def test_a_header_is_put_first_once_and_replaced() -> None:
    kind, folder = BY_NAME["tenant"], Path("/e")
    line = schema.header(kind, folder / "laptop" / "tenants" / "acme.yaml", folder)

    assert line == "# yaml-language-server: $schema=../../../schemas/tenant.schema.json\n"
    assert schema.with_header("a: 1\n", line) == f"{line}a: 1\n"
    assert schema.with_header(f"{schema.HEADER}old.json\na: 1\n", line) == f"{line}a: 1\n"
    assert schema.with_header(f"{line}a: 1\n", line) == f"{line}a: 1\n"


def test_the_reference_in_the_repository_is_current() -> None:
    folder = paths.ROOT / reference.FOLDER
    written = {path.name: path.read_text("utf-8") for path in folder.glob("*.md")}

    assert {name: text for name, text in written.items() if text.startswith(reference.MARK)} == pages(), (
        "run 'jacquard schema --write'"
    )


def test_the_reference_has_a_row_for_every_field() -> None:
    for kind in KINDS:
        page = pages()[f"{kind.name}.md"]
        for found in mappings(schema_of(kind)):
            for field in found.get("properties", {}):
                assert f"| `{field}` | " in page, (kind.name, field)


def test_a_row_has_type_default_rule_and_meaning() -> None:
    page = pages()["tenant.md"].splitlines()

    assert "## clusters[].pools[].rollout" in page
    assert (
        "| `drain_timeout_seconds` | number | `3600` | 60 to 604800 | Seconds after which a node is removed even if "
        "its drain has not finished and jobs are still running. This field is only for pools whose nodes do not wait "
        "for jobs. Zero is not allowed, because Cluster API would wait forever. |"
    ) in page
    assert any(line.startswith("| `replicas` | number | `3` | 1 to 9 |") for line in page)


def test_links_of_the_reference_lead_to_one_heading_each() -> None:
    for name, page in pages().items():
        headings = [line.removeprefix("## ").lower() for line in page.splitlines() if line.startswith("## ")]
        anchors = [re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings]
        assert set(re.findall(r"\]\(#([^)]*)\)", page)) == set(anchors), name
        assert len(anchors) == len(set(anchors)), name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_field_of_the_schema_has_its_docstring(kind: FileKind) -> None:
    found = schema_of(kind)
    every = {kind.name: found, **found["definitions"]}

    assert [
        f"{name}.{key}"
        for name, part in every.items()
        for key, field in part.get("properties", {}).items()
        if not field.get("description") and "const" not in field
    ] == []


def test_docstrings_are_read_on_demand() -> None:
    assert "use_attribute_docstrings" not in DataFile.model_config
    assert {field.description for field in DataFile.model_fields.values()} == {None}
