"""``jacquard facts`` and what ``jacquard impact`` makes of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from typer.testing import Result
from working_nodes import working

from jacquard.cli.errors import ExitCode
from jacquard.cli.verbs import facts as verb
from jacquard.machine import paths
from jacquard.observe.facts import Facts
from jacquard.observe.observation import Observation

Invoke = Callable[..., Result]
COMMIT = ("-c", "user.name=a", "-c", "user.email=a@example", "commit", "-q", "-m", "data")


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Observation], None]:
    """Let the clusters answer with what a test gives."""
    return lambda seen: monkeypatch.setattr(verb, "observe", lambda *_, **__: seen)


def test_facts_are_written_and_an_impact_reads_them(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("init", "-q"), ("add", "."), COMMIT):
        subprocess.run(["git", "-C", str(data_folder.parent), *command], check=True)
    answered(working())
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T16:12:00Z")
    file = data_folder.parent / "facts.json"

    taken = invoke("facts", "laptop", "--out", str(file))
    again = invoke("facts", "laptop", "--out", str(file))
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
    told = invoke("impact", "laptop", "--facts", str(file))

    assert (taken.exit_code, again.exit_code) == (0, 0)
    assert taken.stdout == "laptop: 2 of 4 nodes occupied by 3 pods on 16 GPUs, as of 2026-11-22 16:00 UTC\n"
    estimate = "occupied by jobs (estimate from facts of 2026-11-22 16:00 UTC, 12 minutes old)"
    lines = [line.split() for line in told.stdout.splitlines()]
    assert told.stdout.splitlines()[3] == f"  {estimate}: acme 2 nodes with 3 pods on 16 GPUs"
    assert [lines[5][-1], lines[6][-1]] == ["occupied", "2"]


def test_facts_that_are_too_old_are_not_used_and_that_is_said(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("init", "-q"), ("add", "."), COMMIT):
        subprocess.run(["git", "-C", str(data_folder.parent), *command], check=True)
    answered(working())
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T18:00:00Z")
    file = data_folder.parent / "facts.json"
    invoke("facts", "laptop", "--out", str(file))

    told = invoke("impact", "laptop", "--facts", str(file))
    longer = invoke("impact", "laptop", "--facts", str(file), "--facts-age", "120")

    why = "facts are dated 2026-11-22 16:00 UTC, more than 60 minutes ago; collect new ones"
    warning = f"warning: laptop: {why}; until then it is unknown which nodes are occupied\n"
    assert (told.exit_code, told.stderr) == (0, warning)
    assert (longer.exit_code, longer.stderr) == (0, "")


def test_what_an_impact_is_given_must_be_facts(data_folder: Path, invoke: Invoke) -> None:
    file = data_folder / "laptop" / "region.yaml"

    told = invoke("impact", "laptop", "--facts", str(file))

    assert told.exit_code == ExitCode.BAD_DATA
    assert told.stderr == (
        f"error: {file}: is not a file written by 'jacquard facts': invalid json: expected value at line 1 column 1\n"
    )


def test_a_cluster_that_does_not_answer_is_named(answered: Callable[[Observation], None], invoke: Invoke) -> None:
    answered(working(unreachable={"globex-lab": "no route"}))

    result = invoke("facts", "laptop")

    assert result.exit_code == 0
    assert result.stderr == "warning: cluster globex-lab cannot be read and is omitted: no route\n"
    assert Facts.model_validate_json(result.stdout).clusters[2].unreachable == "no route"


def test_without_any_cluster_there_are_no_facts(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke
) -> None:
    answered(working(unreachable=dict.fromkeys(("management", "acme-train", "globex-lab"), "no route")))
    file = data_folder.parent / "facts.json"

    result = invoke("facts", "laptop", "--out", str(file))

    assert (result.exit_code, file.exists()) == (ExitCode.UNREACHABLE, False)
    assert result.stderr.splitlines()[-1] == "unreachable: laptop: no cluster can be read, so there are no facts"


def test_the_schema_describes_what_is_written(answered: Callable[[Observation], None], invoke: Invoke) -> None:
    answered(working())
    schema = json.loads((paths.ROOT / "schemas" / "facts.schema.json").read_text(encoding="utf-8"))

    jsonschema.validate(json.loads(invoke("facts", "laptop").stdout), schema)
