"""``jacquard drift``: exit codes for scheduled runs, and JSON output."""

from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import pytest
from typer.testing import Result

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.cli.verbs import drift as verb
from jacquard.machine import paths
from jacquard.observe.clusters_compared import drift
from jacquard.observe.drift import data_digest
from jacquard.providers.kube import KubeconfigError
from tests.support.api_servers.fake_servers import FakeServer, fake_servers

Invoke = Callable[..., Result]


@pytest.fixture
def servers(laptop: Environment, monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeServer]:
    """API servers that a test may change; a cluster that it removes is unreachable."""
    found = fake_servers(laptop)

    def connect(_: Environment, cluster: str) -> FakeServer:
        if cluster not in found:
            msg = "no route"
            raise KubeconfigError(msg)
        return found[cluster]

    monkeypatch.setattr(verb, "compared", lambda spec: drift(spec, connect))
    return found


def test_no_drift_is_zero(servers: dict[str, FakeServer], invoke: Invoke) -> None:
    result = invoke("drift", "laptop")

    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert servers
    assert result.stdout.splitlines()[1:] == ["  no drift"]


def test_drift_has_a_separate_exit_code_also_for_incomplete_results(
    servers: dict[str, FakeServer], invoke: Invoke
) -> None:
    del servers["globex-lab"]
    key = next(key for key in servers["management"].objects if key[0] == "MachineDeployment")
    del servers["management"].objects[key]

    result = invoke("drift", "laptop", "--format", "json")

    assert (result.exit_code, result.stderr) == (6, "drift: laptop: 1 object differs from the data\n")
    answer = json.loads(result.stdout)
    assert [(one["name"], one["what"]) for one in answer["objects"]] == [("/".join(key[1:]), "missing")]
    assert answer["unread"] == [{"cluster": "globex-lab", "what": None, "reason": "no route"}]
    schema = json.loads((paths.ROOT / "schemas" / "drift.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(answer, schema)
    assert answer["data"] == data_digest(load_environment("laptop", paths.environments()))


def test_unreadable_objects_are_neither_equal_nor_different(servers: dict[str, FakeServer], invoke: Invoke) -> None:
    servers.clear()

    result = invoke("drift", "laptop")

    message = "laptop: some clusters or objects could not be read, so drift is unknown"
    assert (result.exit_code, result.stderr) == (7, f"unreachable: {message}\n")
    assert result.stdout.splitlines()[1:] == [
        "",
        "could not be read:",
        "  management: no route",
        "  acme-train: no route",
        "  globex-lab: no route",
    ]
