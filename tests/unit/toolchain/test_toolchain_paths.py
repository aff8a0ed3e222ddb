"""Current project: that of the configured data, that of the current folder, or the clone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from jacquard.machine.errors import SettingError


@pytest.fixture
def regions(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of regions, as the current folder."""
    del tree
    folder = tmp_path / "regions"
    (folder / "environments" / "edge-1").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: jacquard\n")
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS", raising=False)
    monkeypatch.chdir(folder / "environments" / "edge-1")
    return folder


@pytest.fixture
def installed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Code outside a clone, as in a virtual environment."""
    monkeypatch.setattr(paths, "IS_CLONE", False)
    return tree


def test_the_repository_around_the_current_folder_is_worked_on(regions: Path) -> None:
    digest = hashlib.sha256(str(regions).encode()).hexdigest()[:8]

    assert paths.project() == paths.own() == regions
    assert paths.environments() == regions / "environments"
    assert paths.home() == paths.cache() / "clones" / f"regions-{digest}"


def test_data_that_are_named_bring_their_repository(
    regions: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(regions / "environments"))

    assert paths.project() == regions
    assert paths.set_up() == "make setup"


def test_data_without_a_program_are_worked_on_by_the_clone(
    tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(tmp_path / "data"))

    assert paths.project() == tree
    assert paths.own() is None
    assert paths.environments() == tmp_path / "data"


def test_another_clone_is_no_repository_of_regions(regions: Path, tree: Path) -> None:
    (regions / "jacquard/machine").mkdir(parents=True)
    (regions / "jacquard/machine/paths.py").touch()

    assert paths.project() == tree


@pytest.mark.parametrize("lacking", ["Pulumi.yaml", "environments"])
def test_installed_code_requires_a_repository(
    regions: Path, installed: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    del installed
    (regions / lacking).rename(regions / "elsewhere")
    monkeypatch.chdir(regions)

    with pytest.raises(SettingError) as error:
        paths.environments()

    assert str(error.value) == (
        f"Pulumi.yaml: not found with a folder environments/ in {regions} or above it; change to the repository of your"
        " regions, or create one: jacquard new REGION --repository DIR"
    )
    assert paths.own() is None


def test_data_that_are_named_are_read_without_a_project_but_not_applied(
    installed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del installed
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", "/data")

    assert paths.environments() == Path("/data")
    assert paths.set_up() == "jacquard setup"
    with pytest.raises(SettingError, match=r"environments/ next to /data \(JACQUARD_ENVIRONMENTS\); change to"):
        paths.home()


def test_plugins_in_separate_folders_get_the_data_they_evaluate(regions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "choose", lambda **_: None)
    monkeypatch.setattr(environment.plugins, "lay_out", lambda _: None)

    assert environment.engine("edge-1")["JACQUARD_ENVIRONMENTS"] == str(regions / "environments")


def test_the_engine_gets_no_variable_that_changes_its_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "engine", lambda *_args, **_kwargs: {"PULUMI_HOME": "/home"})
    monkeypatch.setenv("PULUMI_OPTION_IGNORE_PROTECT", "true")
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    monkeypatch.setenv("PULUMI_K8S_SKIP_UPDATE_UNREACHABLE", "true")
    monkeypatch.setenv("PULUMI_K8S_UPSERT_EXISTING_OBJECTS", "true")

    variables = environment.process("laptop")

    assert [name for name in sorted(variables) if name.startswith("PULUMI_")] == [
        "PULUMI_HOME",
        "PULUMI_K8S_UPSERT_EXISTING_OBJECTS",
    ]
