"""``jacquard render --base``: the changed rendered objects without an engine, and their descriptions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.reading import schema
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.changes import rendered_diff as view
from jacquard.cli.views.changes.markdown import LIMIT_BYTES
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.preview import ObjectChange, Operation, Origin
from jacquard.previews.rendered_diff import RenderedDiff, SliceDiff, rendered_diff
from jacquard.previews.snapshots import Key, Part, Side
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.repositories import COMMIT, committed, git
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
LABELS = "labels: {workload: training"
GROUPS = tuple(f"management/acme-train/acme-train-train-{domain}" for domain in ("a01", "a02"))
FIELD = "spec.template.metadata.labels[node.cluster.x-k8s.io/stage]"


@pytest.fixture
def labelled(data_folder: Path, edit: Edit) -> Path:
    """A repository with an uncommitted label of a pool."""
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", f"{LABELS}}}", f"{LABELS}, stage: two}}")
    return data_folder


def commit_of(folder: Path) -> str:
    return git(folder.parent, "rev-parse", "HEAD")[:9]


def test_rendered_differences_are_reported_once_without_an_engine(
    labelled: Path, invoke: Invoke, pulumi: FakePulumi
) -> None:
    result = invoke("render", "laptop", "--base", "HEAD")

    assert (result.exit_code, pulumi.calls) == (ExitCode.OK, []), result.output
    assert result.stdout == (
        f"laptop: {commit_of(labelled)} -> work tree\n"
        "\n"
        "laptop, tenant-acme: 2 rendered objects changed\n"
        f"    update MachineDeployment same change on 2 objects: {', '.join(GROUPS)}\n"
        f'  + {FIELD}: "two"\n'
    )


def test_all_environments_are_compared_when_none_is_named(labelled: Path, invoke: Invoke) -> None:
    shutil.copytree(ENVIRONMENTS / "lab", labelled / "lab")
    git(labelled.parent, "add", "environments/lab")
    git(labelled.parent, *COMMIT)

    found = [
        RenderedDiff.model_validate(one)
        for one in json.loads(invoke("render", "--base", "HEAD", "--format", "json").stdout)
    ]

    assert {one.environment: len(one.slices) for one in found if one.slices} == {"laptop": 1}
    assert {one.environment for one in found} == {"lab", "laptop"}
    [laptop] = (one for one in found if one.slices)
    assert set(laptop.model_dump()) == set(schema.model_schema(RenderedDiff)["properties"])
    [change] = laptop.slices[0].changes
    assert (change.operation, change.origin, change.names) == (Operation.UPDATE, Origin.CHANGE, GROUPS)


def test_created_deleted_and_retained_objects_are_reported_separately(
    data_folder: Path, invoke: Invoke, edit: Edit
) -> None:
    committed(data_folder)
    invoke("promote", "laptop", "acme-train/infer", "--to", "gpu-2026.11.1")
    edit(data_folder / "laptop" / "tenants" / "globex.yaml", "storage: [shared-vast]", "storage: []")

    [laptop] = json.loads(invoke("render", "laptop", "--base", "HEAD", "--format", "json").stdout)

    found = {
        one["slice"]: {(change["operation"], change["kind"].rpartition("/")[2]) for change in one["changes"]}
        for one in laptop["slices"]
    }
    templates = ("KubeadmConfigTemplate", "Metal3MachineTemplate")
    made_anew = {(how, kind) for how in ("create", "retain") for kind in templates}
    assert found["tenant-acme"] == {*made_anew, ("update", "MachineDeployment")}
    assert ("delete", "Namespace") in found["cluster-globex-lab"]


def test_a_comment_in_a_file_renders_the_same(data_folder: Path, invoke: Invoke, edit: Edit) -> None:
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "tenant: acme\n", "tenant: acme   # a comment\n")

    text, markdown = (
        invoke("render", "laptop", "--base", "HEAD", "--format", form).stdout for form in ("text", "markdown")
    )

    commit = commit_of(data_folder)
    assert text == f"laptop: {commit} -> work tree\n  base and head render the same objects\n"
    assert markdown.splitlines()[1:] == [
        "### No rendered object changed",
        "",
        f"**`laptop`** `{commit}` to `work tree`",
        "",
        "- base and head render the same objects",
        "",
    ]


@pytest.mark.usefixtures("labelled")
def test_markdown_has_a_fold_for_each_slice_below_its_mark(invoke: Invoke) -> None:
    text = invoke("render", "laptop", "--base", "HEAD", "--format", "markdown").stdout

    assert text.startswith(f"{view.MARK}\n### 2 rendered objects changed\n")
    assert "<details><summary>laptop, <code>tenant-acme</code>: 2 rendered objects changed</summary>" in text
    assert f"```diff\n  update MachineDeployment same change on 2 objects: {', '.join(GROUPS)}\n" in text
    assert text.count("```") == 2


def diff(*slices: SliceDiff, by_head: bool = False) -> RenderedDiff:
    return RenderedDiff(environment="lab", base="b", head="h", by_head=by_head, slices=slices)


def test_markdown_keeps_to_the_limit_of_a_comment_with_its_fences_closed() -> None:
    change = ObjectChange(
        operation=Operation.CREATE, origin=Origin.CHANGE, kind="metal3.io/BareMetalHost", names=("`@x`" * 500,)
    )
    many = [SliceDiff(slice=f"tenant-{number}", changes=(change,) * 50) for number in range(20)]

    text = view.comment([diff(*many)])

    assert len(text.encode()) <= LIMIT_BYTES
    assert text.count("<details>") == text.count("</details>") > 0
    assert "omitted (size limit of comments); `jacquard render --format json` contains all." in text


def test_a_base_that_cannot_render_its_objects_is_reported() -> None:
    lines = [line.plain for line in view.lines(diff(by_head=True))]

    assert lines == [
        "lab: b -> h",
        "  the code of b cannot render its objects; the code of h rendered both sides",
        "  base and head render the same objects",
    ]


CANARY = "c4nary-in-a-secret"


def side_of(environment: Environment, secret: str, argument: str) -> Side:
    """Return one side with a Secret, and with a workload of another slice that has the argument ``argument``."""

    def part(name: str, kind: str, **rest: object) -> tuple[Key, Part]:
        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "n"}, **rest}
        key, item = (f"slice-of-{name}", "Own", name), Manifest(body=body)
        return key, Part(key=key, about=(), label=name, concept=body, objects=lambda: (item,))

    holder = part("held", "Secret", stringData={"k": secret})
    user = part("user", "Pod", spec={"containers": [{"name": "c", "args": [f"-k={argument}"]}]})
    return Side(environment=environment, parts=dict((holder, user)))


@pytest.mark.parametrize("secret", [CANARY, "another-value"], ids=["of another slice", "that changes"])
def test_the_content_of_a_secret_is_not_shown(laptop: Environment, secret: str) -> None:
    sides = side_of(laptop, CANARY, "nothing"), side_of(laptop, secret, CANARY)
    names = Impact.model_construct(environment="laptop", base="b", head="h")

    found = rendered_diff(*sides, names, by_head=False)

    assert found.slices
    assert CANARY not in found.model_dump_json()
    assert CANARY not in view.comment([found])
    assert "[secret]" in view.comment([found])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "write either --out DIR, to write objects to files, or --base REF, to compare them"),
        (
            ("--out", "out", "--base", "HEAD"),
            "write either --out DIR, to write objects to files, or --base REF, to compare them",
        ),
        (
            ("--out", "out"),
            "--out: requires exactly one environment (got none); write: jacquard render ENV --out out",
        ),
        (
            ("lab", "laptop", "--out", "out"),
            "--out: requires exactly one environment (got 2); write: jacquard render ENV --out out",
        ),
        (
            ("lab", "--out", "out", "--format", "markdown"),
            "--format: markdown requires --base; write text or json with --out",
        ),
    ],
)
@pytest.mark.usefixtures("data_folder")
def test_options_that_do_not_go_together_are_refused(invoke: Invoke, options: tuple[str, ...], expected: str) -> None:
    result = invoke("render", *options)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {expected}\n")
