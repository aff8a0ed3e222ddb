"""``jacquard new --repository`` writes a valid repository of regions, whose code can extend the library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from components.specs.reading import schema
from components.specs.reading.kinds import KINDS
from jacquard.machine import paths, pins
from tests.support.docs.walkthrough import Command, Edit, steps

Invoke = Callable[..., Result]
EditFile = Callable[[Path, str, str], None]
RULE, COMPONENT = "extensions/policies/note_without_contact.py", "extensions/components/region_note.py"
NO_ENGINE = {"allocate", "check", "explain", "render", "upgrade"}


def test_a_new_repository_has_all_that_a_region_needs(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("new", "edge-1", "--repository", str(tmp_path / "regions"), "--format", "json")

    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    around = [name for name in answer["files"] if not name.startswith("environments/")]
    schemas = [f"schemas/{schema.file_name(kind)}" for kind in KINDS]
    assert around == sorted(
        [
            ".devcontainer/devcontainer.json",
            ".dockerignore",
            ".gitattributes",
            ".github/workflows/check.yml",
            ".github/workflows/nightly.yml",
            ".github/workflows/preview.yml",
            ".github/workflows/up.yml",
            ".gitignore",
            ".gitlab-ci.yml",
            ".pre-commit-config.yaml",
            ".starter.zip",
            "Dockerfile",
            "Pulumi.yaml",
            "README.md",
            COMPONENT,
            "policy-pack/PulumiPolicy.yaml",
            "policy-pack/__main__.py",
            RULE,
            "renovate.json",
            "requirements.txt",
            *schemas,
            "program/__main__.py",
        ]
    )
    assert all((tmp_path / "regions" / name).is_file() for name in answer["files"])
    assert answer["next"][1:] == [
        "git init",
        "python3 -m venv .venv",
        ".venv/bin/pip install -r requirements.txt",
        "source .venv/bin/activate",
        "jacquard allocate edge-1",
        "jacquard check edge-1",
        "jacquard setup",
        "jacquard up edge-1",
    ]
    note = "note: requirements.txt pins a local path; replace it with a URL before others use the repository"
    assert note in result.stderr


def test_the_steps_of_the_page_work_without_the_engine(invoke: Invoke, regions: Path) -> None:
    for step in steps("guides/your-own-repository.md"):
        match step:
            case Edit():
                step.apply(regions)
            case Command(words=("jacquard", verb, *rest)) if verb in NO_ENGINE:
                result = invoke(verb, *rest)
                assert result.exit_code == 0, f"{verb}: {result.output}"
    assert "on-call@cloud.example" in (regions / COMPONENT).read_text()


def test_a_further_region_is_in_the_workflows_and_must_be_added_to_the_lists(invoke: Invoke, regions: Path) -> None:
    result = invoke("new", "edge-2")

    assert result.exit_code == 0, result.output
    assert result.stderr == (
        "note: if you use GitLab, add edge-2 to the regions in .gitlab-ci.yml\n"
        "note: to check the lock files of edge-2 before each commit, add a hook with args: [edge-2] to "
        ".pre-commit-config.yaml\n"
    )
    assert "edge-1" not in "".join(file.read_text() for file in (regions / ".github").rglob("*.yml"))

    (regions / ".gitlab-ci.yml").unlink()
    hooks = regions / ".pre-commit-config.yaml"
    hooks.write_text(hooks.read_text().replace("args: [edge-1]", "args: [edge-3]"))
    assert invoke("new", "edge-3").stderr == ""
    hooks.write_text("repos: []\n")
    assert invoke("new", "edge-4").stderr == ""


def test_generated_files_are_current_and_pages_of_the_library_are_not_copied(invoke: Invoke, regions: Path) -> None:
    result = invoke("schema")

    assert result.exit_code == 0, result.output
    assert not (regions / "docs").exists()


def test_its_component_is_rendered_in_each_cluster(invoke: Invoke, regions: Path, tmp_path: Path) -> None:
    assert invoke("render", "edge-1", "--out", str(tmp_path / "out")).exit_code == 0

    for cluster in ("management", "first-train"):
        body = yaml.safe_load((tmp_path / "out" / cluster / "kube-public" / "configmap-region-note.yaml").read_text())
        assert body["data"] == {"region": "edge-1", "stage": "rehearsal", "contact": "platform@cloud.example"}
    assert (regions / COMPONENT).exists()


def test_an_impact_includes_extension_components(invoke: Invoke, regions: Path, edit: EditFile) -> None:
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"],
    ):
        subprocess.run(["git", "-C", regions, *words], check=True)
    edit(regions / COMPONENT, '"platform@cloud.example"', '"on-call@cloud.example"')

    answer = json.loads(invoke("impact", "edge-1", "--format", "json").stdout)[0]
    rows = {(row["part"], row["effect"], row["tenant"]) for row in answer["rows"]}
    assert rows == {("management-note", "in place", None), ("first-train-note", "in place", "first")}

    edit(regions / "requirements.txt", "jacquard @", "jacquard   @")
    answer = json.loads(invoke("impact", "edge-1", "--format", "json").stdout)[0]
    assert ("everything", "unknown") in {(row["part"], row["effect"]) for row in answer["rows"]}


@pytest.mark.parametrize(
    ("pin", "option"),
    [
        ("jacquard==9.9.9", ""),
        ("jacquard @ https://host.example/jacquard-0.1.0-py3-none-any.whl", "--force-reinstall "),
    ],
)
def test_another_version_than_the_pinned_one_is_refused(
    invoke: Invoke, regions: Path, monkeypatch: pytest.MonkeyPatch, pin: str, option: str
) -> None:
    installed_from(monkeypatch, url="https://host.example/other.whl", archive_info={})
    (regions / "requirements.txt").write_text(f"# pinned\n{pin}\n")

    result = invoke("check")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: requirements.txt:2: pins {pin}, but jacquard @ https://host.example/other.whl is installed; install"
        f" the pinned version: .venv/bin/pip install {option}-r requirements.txt, or pin the installed version:"
        " jacquard upgrade\n"
    )


@pytest.mark.parametrize(
    ("pin", "fits"),
    [
        ("jacquard @ git+https://host.example/jacquard@v0.1.0", True),
        ("jacquard @ git+https://host.example/jacquard@0a1b2c", True),
        ("jacquard @ git+https://host.example/jacquard@v0.2.0", False),
        ("jacquard @ git+https://host.example/jacquard", False),
        ("jacquard==0.1.0", True),
        ("pulumi==1.0.0", True),
    ],
)
def test_a_pinned_revision_is_known_by_its_tag_and_its_commit(
    regions: Path, monkeypatch: pytest.MonkeyPatch, pin: str, *, fits: bool
) -> None:
    vcs = {"vcs": "git", "requested_revision": "v0.1.0", "commit_id": "0a1b2c"}
    installed_from(monkeypatch, url="https://host.example/jacquard", vcs_info=vcs)
    (regions / "requirements.txt").write_text(f"{pin}\n")

    assert pins.requirement() == "jacquard @ git+https://host.example/jacquard@0a1b2c"
    if fits:
        pins.check()
    else:
        with pytest.raises(pins.SettingError, match="pins jacquard @ git"):
            pins.check()


def installed_from(monkeypatch: pytest.MonkeyPatch, **origin: object) -> None:
    class Installed:
        version = "0.1.0"

        @staticmethod
        def read_text(name: str) -> str:
            assert name == "direct_url.json"
            return json.dumps(origin)

    monkeypatch.setattr(pins, "distribution", lambda _: Installed)


def test_existing_files_are_not_overwritten(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")

    result = invoke("new", "edge-1", "--repository", str(tmp_path))

    assert result.exit_code == 2
    assert result.stderr == f"error: {tmp_path}: README.md already exists; name an empty folder\n"
    assert (tmp_path / "README.md").read_text() == "mine\n"
    assert not (tmp_path / "Pulumi.yaml").exists()


def test_an_engine_needs_the_python_that_the_program_runs_by(invoke: Invoke, regions: Path) -> None:
    result = invoke("up", "edge-1")

    assert result.exit_code == 1
    assert result.stderr == (
        f"error: {regions / '.venv'}: has no bin/python, with which Pulumi.yaml runs the program; create it in "
        f"{regions}: python3 -m venv .venv && .venv/bin/pip install -r requirements.txt\n"
    )


def test_without_a_program_there_is_no_repository(
    invoke: Invoke, regions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (regions / "Pulumi.yaml").unlink()
    monkeypatch.setattr(paths, "IS_CLONE", False)

    result = invoke("check")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: Pulumi.yaml: not found with a folder environments/ in {Path.cwd()} or above it; change to the"
        " repository of your regions, or create one: jacquard new REGION --repository DIR\n"
    )
