"""A missing stack can be read and previewed without being created."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.specs.region.state import StateSpec
from jacquard.engine.driver import Engine
from jacquard.engine.errors import EngineError
from jacquard.engine.missing_stacks import previewing
from jacquard.machine import paths

MISSING = "error: no stack named 'laptop' found\n"
SETTINGS = "secretsprovider: awskms://alias/x\nconfig:\n  jacquard:a: b\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of regions, without a passphrase of the user."""
    folder = tmp_path / "regions"
    (folder / "environments").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: looms\n")
    (python := folder / ".venv" / "bin" / "python").parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder / "environments"))
    for name in ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert paths.project() == folder
    return folder


def engine() -> Engine:
    return Engine("laptop", StateSpec(backend="s3://state", secrets_provider="awskms://alias/x"), {})


def test_reading_a_missing_stack_does_not_create_it(pulumi: Any) -> None:
    pulumi.answer("stack export", stderr=MISSING, code=255)

    ready = Engine("laptop", None, {}).look("laptop")

    assert (ready.made, ready.resources) == (False, [])
    assert pulumi.verbs == ["stack export"]


def test_an_unreadable_stack_is_not_mistaken_for_a_missing_one(pulumi: Any) -> None:
    pulumi.answer("stack export", stderr="error: incorrect passphrase\n", code=255)

    with pytest.raises(EngineError, match="laptop: its state cannot be read: incorrect passphrase"):
        Engine("laptop", None, {}).look("laptop")


def test_a_damaged_state_in_a_bucket_is_reported_with_the_object_that_replaces_it(project: Path, pulumi: Any) -> None:
    del project
    pulumi.answer("stack export", stderr="error: failed to load checkpoint: unexpected end of JSON input\n", code=255)

    with pytest.raises(EngineError) as damage:
        engine().look("laptop")

    assert str(damage.value) == (
        "laptop: its state is damaged (unexpected end of JSON input), and nothing was changed; copy"
        " .pulumi/stacks/looms/laptop.json.bak over .pulumi/stacks/looms/laptop.json in s3://state, or restore an"
        " earlier version of the latter, then run 'jacquard up laptop', which adopts objects that the state lacks"
    )


def test_an_existing_stack_is_previewed_in_place(pulumi: Any) -> None:
    del pulumi
    made = engine()

    with previewing(made, made.look("laptop")) as able:
        assert able is made


def test_one_that_is_not_there_is_previewed_over_an_empty_state_that_ends(pulumi: Any, project: Path) -> None:
    pulumi.answer("stack export", stderr=MISSING, code=255)
    made = engine()
    with previewing(made, made.look("laptop")) as able:
        able.run("preview", "laptop", "--diff")

        state = Path(able.variables["PULUMI_BACKEND_URL"].removeprefix("file://").removesuffix("?metadata=skip"))
        [file] = (one for one in state.rglob("*") if one.is_file())
        assert file.relative_to(state) == Path(".pulumi/stacks/looms/laptop.json")
        assert not json.loads(file.read_text())["checkpoint"]["latest"].get("resources")
        assert able.variables["PULUMI_CONFIG_PASSPHRASE"] == "rehearsal"

    call = pulumi.calls[-1]
    assert call[call.index("--config-file") + 1] == str(state.parent / "Pulumi.laptop.yaml")
    assert "--diff" in call
    assert not state.parent.exists()
    assert (made.options, made.variables["PULUMI_BACKEND_URL"]) == ((), "s3://state")
    assert not list((project / "environments").iterdir())


@pytest.mark.parametrize(("settings", "passphrase"), [(SETTINGS, "rehearsal"), ("encryptionsalt: v1:x\n", None)])
def test_settings_of_a_stack_that_is_not_there_are_read_and_kept(
    pulumi: Any, project: Path, settings: str, passphrase: str | None
) -> None:
    pulumi.answer("stack export", stderr=MISSING, code=255)
    (file := project / "environments" / "Pulumi.laptop.yaml").write_text(settings)
    made = engine()

    with previewing(made, made.look("laptop")) as able:
        copied = Path(able.options[-1])
        assert copied.read_text() == settings
        copied.write_text("what the engine adds")
        assert able.variables.get("PULUMI_CONFIG_PASSPHRASE") == passphrase

    assert file.read_text() == settings
