"""The table of effects: its rows, their coverage of all rendered objects, and the parser of its files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.inputs.manifests import manifests
from components.lookups.effects.changes import Change, changes, kind_of
from components.lookups.effects.effect import Effect, Subject
from components.lookups.effects.table import (
    CREATED,
    DELETED,
    EVERY_KIND,
    FOLDER,
    Row,
    effects_table,
    read_table,
    spelt,
    steps,
)
from components.lookups.slices import slices
from components.render.control_planes import kamaji
from components.render.manifest import Manifest, objects
from components.specs.control_planes.data_stores import DataStoreSpec
from components.specs.reading.problems import SpecError
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, reference

ROW = """      - fields: [{fields}]
        effect: none
        falls_on: nodes
        why: It is a test.
        source: {source}
"""


@pytest.fixture(scope="module")
def rendered() -> list[Manifest]:
    """One object of each kind and set of fields that any environment renders."""
    found: dict[object, Manifest] = {}
    for name in REFERENCES:
        environment = reference(name)
        for part in slices(environment):
            for item in objects(manifests(environment, part)):
                found.setdefault((kind_of(item), item.retain, item.protect, frozenset(paths_of(item.body))), item)
    return list(found.values())


def test_other_members_of_a_data_store_may_be_those_of_an_empty_etcd() -> None:
    store = DataStoreSpec(name="shared", endpoints=("etcd-0.example:2379",), secret="etcd-certs", max_clusters=4)
    moved = store.model_copy(update={"endpoints": ("other-0.example:2379",)})

    [change] = changes([kamaji.data_store(store)], [kamaji.data_store(moved)])

    assert (change.path, change.effect) == ("spec.endpoints", Effect.UNKNOWN)


@pytest.fixture(scope="module")
def written(rendered: list[Manifest]) -> list[Change]:
    """Effects of the creation of each of these objects, of each of its fields, and of its deletion."""
    return [
        change
        for item in rendered
        for change in (
            *changes([], [item]),
            *changes([bare(item)], [item]),
            *changes([item], []),
            *changes([bare(item)], []),
        )
    ]


def bare(item: Manifest) -> Manifest:
    """Return the object with its identity only."""
    metadata = {key: item.body["metadata"][key] for key in ("name", "namespace") if key in item.body["metadata"]}
    body = {"apiVersion": item.api_version, "kind": item.kind, "metadata": metadata}
    return Manifest(body=body, cluster=item.cluster)


def paths_of(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all values; list entries share a path."""
    inner = (
        value.items() if isinstance(value, dict) else (("*", one) for one in value) if isinstance(value, list) else ()
    )
    yield path
    for key, one in inner:
        yield from paths_of(one, (*path, key))


def test_nothing_that_is_rendered_lacks_a_row(written: list[Change]) -> None:
    assert sorted({f"{change.kind} {change.path}" for change in written if change.row is None}) == []


def test_every_path_of_the_table_occurs_in_rendered_objects_or_has_a_reason(written: list[Change]) -> None:
    met: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    for change in written:
        met[id(change.row)].add(steps(change.path))

    unmet = [
        f"{kind} {path}"
        for kind, row in every_row()
        for path in row.fields
        if not row.unrendered and not any(fits(steps(path), found) for found in met[id(row)])
    ]
    assert unmet == []


def every_row() -> list[tuple[str, Row]]:
    """Return all rows of the table with their kinds."""
    table = effects_table()
    return [(kind, row) for kind, rows in (*table.kinds.items(), (EVERY_KIND, table.for_every_kind)) for row in rows]


def fits(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Return whether a path of the table covers a path of an object."""
    if pattern[-1:] == ("**",):
        pattern = (*pattern[:-1], *path[len(pattern) - 1 :])
    return len(pattern) == len(path) and all(step in ("*", other) for step, other in zip(pattern, path, strict=True))


def test_each_kind_has_effects_of_creation_and_deletion() -> None:
    table = effects_table()

    assert [kind for kind in table.kinds if not (table.row(kind, (CREATED,)) and table.row(kind, (DELETED,)))] == []


def test_each_row_has_a_source_that_is_listed_or_a_file_of_this_repository() -> None:
    sources = {row.source.partition(":")[::2] for _, row in every_row()}

    assert {short for short, _ in sources} == {*effects_table().sources, "jacquard"}
    own = [where.split()[0] for short, where in sources if short == "jacquard"]
    assert [where for where in own if not (paths.ROOT / where).exists()] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("spec", "template", 0, "name"), "spec.template.0.name"),
        (("metadata", "labels", "jacquard.dev/pool"), "metadata.labels[jacquard.dev/pool]"),
        (("provisioner",), "provisioner"),
    ],
)
def test_a_path_is_spelt_as_the_table_spells_it(path: tuple[str | int, ...], text: str) -> None:
    assert spelt(path) == text
    assert steps(text) == tuple(map(str, path))


def write(folder: Path, **files: str) -> Path:
    """Write files of a table, each with rows by kind."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(
            f"schema_version: 1\nsources:\n  T: a test\nkinds:\n{text}", encoding="utf-8"
        )
    return folder


def test_the_most_specific_row_applies(tmp_path: Path) -> None:
    fields = ["spec.**", "spec.list.*.name", "spec.list.first.name", "spec.list.*.**", "spec.list", "'*.name'"]
    rows = "".join(ROW.format(fields=path, source=f"T:{number}") for number, path in enumerate(fields))
    table = read_table(write(tmp_path, one=f"    test/Thing:\n{rows}"))

    def source(*path: str | int) -> str | None:
        row = table.row("test/Thing", path)
        return row and row.source

    assert source("spec", "other", "deep") == source("spec") == "T:0"
    assert source("spec", "list", 3, "name") == "T:1"
    assert source("spec", "list", "first", "name") == "T:2"
    assert source("spec", "list", 3, "other") == source("spec", "list", 3) == "T:3"
    assert source("spec", "list") == "T:4"
    assert source("status", "name") == "T:5"
    assert source("status", "other") is None
    assert table.row("test/Other", ("spec",)) is None


def test_rows_for_every_kind_hold_for_kinds_of_the_table_only_and_below_their_own(tmp_path: Path) -> None:
    every = f'    "*":\n{ROW.format(fields="metadata.labels.*", source="T:every")}'
    own = f"    test/Thing:\n{ROW.format(fields='metadata.labels.mine', source='T:own')}"
    table = read_table(write(tmp_path, one=every, two=own))

    found = [table.row("test/Thing", ("metadata", "labels", key)) for key in ("mine", "other")]
    assert [row and row.source for row in found] == ["T:own", "T:every"]
    assert table.row("test/Other", ("metadata", "labels", "other")) is None


def test_all_errors_of_a_table_are_reported_together(tmp_path: Path) -> None:
    thing = "    test/Thing:\n" + ROW.format(fields="spec.a, spec..b", source="T:one")
    again = "    test/Thing:\n" + ROW.format(fields="spec.c, spec.c, 'spec.**.d'", source="U:two")
    again += ROW.format(fields="spec.e", source="U:two").replace("effect: none", "effect: refused")
    again += ROW.format(fields="spec.f", source="U:two").rstrip() + "\n        remedy: Wait.\n"
    write(tmp_path, one=thing, two=again)
    (tmp_path / "three.yaml").write_text(
        "schema_version: 1\nkinds:\n  test/Else:\n    - fields: [spec]\n      effect: perhaps\n      why: It is.\n"
    )

    with pytest.raises(SpecError) as error:
        read_table(tmp_path)

    remedies = "must have a remedy if its effect is refused, and none otherwise"
    remedy = "write keys with dots between them, keys that contain dots in brackets, ** at the end only"
    assert sorted((one.file, one.line, one.path, one.text) for one in error.value.problems) == [
        ("one.yaml", 0, "kinds.test/Thing", f"has 'spec..b', which is not a valid path; {remedy}"),
        (
            "three.yaml",
            4,
            "kinds.test/Else[0].falls_on",
            f"is required; write falls_on: {'|'.join(Subject)}",
        ),
        ("three.yaml", 4, "kinds.test/Else[0].source", "is required; write source: ..."),
        ("three.yaml", 5, "kinds.test/Else[0].effect", f"must be one of {', '.join(Effect)} (got 'perhaps')"),
        ("two.yaml", 0, "kinds.test/Thing", f"has 'spec.**.d', which is not a valid path; {remedy}"),
        ("two.yaml", 0, "kinds.test/Thing", "has spec.c 2 times; keep one of them"),
        ("two.yaml", 0, "kinds.test/Thing", "is also in one.yaml; keep one of the two"),
        ("two.yaml", 0, "kinds.test/Thing", "names source U, which no file lists; add it to sources"),
        ("two.yaml", 0, "kinds.test/Thing", f"spec.e {remedies}"),
        ("two.yaml", 0, "kinds.test/Thing", f"spec.f {remedies}"),
    ]


def test_the_table_is_the_yaml_files_of_its_folder() -> None:
    assert {path.suffix for path in FOLDER.iterdir() if path.is_file()} == {".py", ".yaml"}
    assert read_table(FOLDER).kinds == effects_table().kinds


def test_the_page_shows_the_words_and_all_that_touches_machines() -> None:
    page = (paths.ROOT / "docs/changes/effects.md").read_text(encoding="utf-8").splitlines()
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in page if line.startswith("| ")]
    touching = {Effect.REBOOTED, Effect.RE_FLASHED, Effect.REPLACED}
    machines = {Subject.NODES, Subject.HOSTS, Subject.DPUS, Subject.VMS}

    assert [row[0] for row in shown if len(row) == 2] == ["effect", *Effect]
    assert [row for row in shown if len(row) == 6][1:] == [
        [kind.rpartition("/")[2], ", ".join(f"`{path}`" for path in row.fields), word, row.falls_on, row.when, row.why]
        for kind, row in every_row()
        if (word := row.later or row.effect) in touching and row.falls_on in machines
    ]
