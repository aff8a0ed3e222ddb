"""``jacquard render`` writes identical bytes each time, and changes no files of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState
from jacquard.cli.errors import Stop
from jacquard.cli.views import render_tree

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


def manifest(kind: str, name: str, namespace: str | None = None, api_version: str = "v1") -> Manifest:
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return Manifest(body={"apiVersion": api_version, "kind": kind, "metadata": metadata})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_named_by_cluster_namespace_kind_and_name() -> None:
    objects = [manifest("Namespace", "acme"), manifest("Secret", "bmc", "acme"), manifest("ClusterRole", "a:b/c")]

    assert list(render_tree.files(objects)) == [
        "management/_cluster/namespace-acme.yaml",
        "management/acme/secret-bmc.yaml",
        "management/_cluster/clusterrole-a_b_c.yaml",
    ]


def test_kinds_of_one_name_in_two_groups_do_not_meet_in_one_file() -> None:
    objects = [manifest("Cluster", "a", "a", "x.io/v1"), manifest("Cluster", "a", "a", "y.io/v1")]

    assert list(render_tree.files(objects)) == [
        "management/a/cluster.x.io-a.yaml",
        "management/a/cluster.y.io-a.yaml",
    ]


def test_yaml_keeps_order_quotes_ambiguous_values_and_repeats_shared_values() -> None:
    shared = {"port": 22}
    body = {
        "kind": "X",
        "apiVersion": "v1",
        "texts": ["1.30", "no", "80:11:22:33:44:55", "2026-11-03", "1e3", "", "null", "10.0.0.1", "v1.35.2"],
        "ports": (shared, shared),
        "text": "a\nb\n",
    }

    text = render_tree.yaml_text(body)

    assert text == (
        "kind: X\n"
        "apiVersion: v1\n"
        "texts:\n"
        "  - '1.30'\n"
        "  - 'no'\n"
        "  - '80:11:22:33:44:55'\n"
        "  - '2026-11-03'\n"
        "  - '1e3'\n"
        "  - ''\n"
        "  - 'null'\n"
        "  - 10.0.0.1\n"
        "  - v1.35.2\n"
        "ports:\n"
        "  - port: 22\n"
        "  - port: 22\n"
        "text: |\n"
        "  a\n"
        "  b\n"
    )
    assert yaml.safe_load(text) == {**body, "ports": [shared, shared]}


def test_a_second_render_writes_nothing_and_leaves_the_same_bytes(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = invoke("render", "laptop", "--out", str(out))
    before = tree(out)
    second = invoke("render", "laptop", "--out", str(out))

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert second.output == f"laptop: {len(before) - 1} objects in {out}, no changes\n"
    assert tree(out) == before


def test_only_the_file_of_a_removed_object_is_deleted(
    invoke: Invoke, tmp_path: Path, data_folder: Path, edit: Edit
) -> None:
    out = tmp_path / "out"
    invoke("render", "laptop", "--out", str(out))
    (out / "notes.txt").write_text("mine")
    before = set(tree(out))
    edit(
        data_folder / "laptop" / "tenants" / "acme.yaml", "storage: [shared-nfs, shared-vast]", "storage: [shared-vast]"
    )
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "storage_class: shared-nfs", "storage_class: shared-vast")

    again = invoke("render", "laptop", "--out", str(out))

    assert again.exit_code == 0, again.output
    assert before - set(tree(out)) == {
        "acme-train/_cluster/namespace-csi-nfs.yaml",
        "acme-train/_cluster/storageclass-shared-nfs.yaml",
        "acme-train/_cluster/storageprofile-shared-nfs.yaml",
        "acme-train/_cluster/volumesnapshotclass-shared-nfs.yaml",
        "management/acme-train/helmrelease-csi-driver-nfs.yaml",
    }
    assert (out / "notes.txt").read_text() == "mine"


def test_a_folder_with_foreign_files_is_rejected_unchanged(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(Stop) as stop:
        render_tree.FOLDER.write(tmp_path, "laptop", {"a.yaml": "a: 1\n"})

    assert str(stop.value) == (
        f"{tmp_path}: is not empty and not written by 'jacquard render'; name an empty or new folder for --out"
    )
    assert stop.value.code == 2
    assert set(tree(tmp_path)) == {"notes.txt"}


def test_the_folder_of_another_environment_is_refused(tmp_path: Path) -> None:
    render_tree.FOLDER.write(tmp_path, "lab", {"a.yaml": "a: 1\n"})

    with pytest.raises(Stop) as stop:
        render_tree.FOLDER.write(tmp_path, "laptop", {"a.yaml": "a: 1\n"})

    assert str(stop.value) == (f"{tmp_path}: contains environment 'lab', not 'laptop'; choose another folder for --out")


def test_a_foreign_file_at_the_path_of_an_object_is_not_overwritten(tmp_path: Path) -> None:
    render_tree.FOLDER.write(tmp_path, "laptop", {"a.yaml": "a: 1\n"})
    (tmp_path / "b.yaml").write_text("mine")

    with pytest.raises(Stop) as stop:
        render_tree.FOLDER.write(tmp_path, "laptop", {"a.yaml": "a: 2\n", "b.yaml": "b: 1\n"})

    assert str(stop.value) == (
        f"{tmp_path}: contains b.yaml, not written by jacquard; move them or choose another folder for --out"
    )
    assert (tmp_path / "a.yaml").read_text() == "a: 1\n"


def test_an_index_that_names_files_outside_is_not_believed(tmp_path: Path, edit: Edit) -> None:
    folder, outside = tmp_path / "out", tmp_path / "precious"
    outside.write_text("mine")
    render_tree.FOLDER.write(folder, "laptop", {"a.yaml": "a: 1\n"})
    edit(folder / render_tree.FOLDER.index, '"a.yaml"', '"a.yaml", "../precious"')

    render_tree.FOLDER.write(folder, "laptop", {"a.yaml": "a: 1\n"})

    assert outside.read_text() == "mine"


def test_a_value_of_an_enumeration_is_written_as_the_text_it_is() -> None:
    assert render_tree.yaml_text({"state": HostState.RMA, HostState.RMA: 1}) == "state: rma\nrma: 1\n"


def test_every_object_of_the_laptop_has_a_file_with_equal_content(laptop: Environment) -> None:
    everything = [item for piece in slices(laptop) for item in objects(manifests(laptop, piece))]

    texts = render_tree.files(everything)

    assert [yaml.safe_load(text) for text in texts.values()] == [
        json.loads(json.dumps(item.body, default=dict)) for item in everything
    ]
