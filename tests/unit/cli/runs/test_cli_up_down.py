"""``up`` and ``down`` with an engine, a local region and clusters with configured results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.specs.environment import Environment
from jacquard.cli import local_region
from jacquard.cli.errors import Stop
from jacquard.machine import paths
from jacquard.observe.observation import Observation
from jacquard.providers.kube import Unreachable

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


class Local:
    """Replaces ``python -m jacquard.lab.rehearsal`` and the clusters."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answers = True

    def revive(self, environment: Environment, variables: dict[str, str]) -> None:
        self.calls.append(f"up {environment.name} at speed {variables.get('JACQUARD_SPEED')}")

    def remove(self, environment: str, variables: Any = None) -> None:
        del variables
        self.calls.append(f"down {environment}")

    def connect(self, environment: Environment, cluster: str) -> Local:
        del environment, cluster
        return self

    def request(self, method: str, path: str) -> None:
        del method, path
        if not self.answers:
            server, why = "https://127.0.0.1:1", "connection refused"
            raise Unreachable(server, why)


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch, seen: Observation) -> Local:
    fake = Local()
    monkeypatch.setattr(local_region, "revive", fake.revive)
    monkeypatch.setattr(local_region, "remove", fake.remove)
    monkeypatch.setattr("jacquard.cli.runs.applying.observe", lambda _: seen)
    monkeypatch.setattr("jacquard.cli.verbs.down.connect", fake.connect)
    return fake


def test_up_applies_the_clusters_then_the_region_and_ends_with_the_summary(
    invoke: Invoke, pulumi: Any, local: Local
) -> None:
    pulumi.answer("up", events="create")

    result = invoke("up", "laptop", "--timeout", "0", "--speed", "10")

    assert result.exit_code == 0, result.output
    assert [call[2] for call in pulumi.calls if call[0] == "up"] == ["laptop.bootstrap", "laptop"]
    assert pulumi.calls[-1][-5:-3] == ["--policy-pack", "policies"]
    assert "laptop: 4 created, 2 of 2 clusters and 20 of 20 nodes ready\n" in result.stdout
    assert "Try next" in result.stdout
    assert local.calls == []


def test_up_writes_the_number_of_changed_resources_as_metrics(
    invoke: Invoke, pulumi: Any, local: Local, tmp_path: Path
) -> None:
    del local
    pulumi.answer("up", events="create")
    file = tmp_path / "up.prom"

    assert invoke("up", "laptop", "--timeout", "0", "--metrics-file", str(file)).exit_code == 0

    series = 'jacquard_run_changed_resources{command="up",environment="laptop",operation="create"} 4.0\n'
    assert series in file.read_text(encoding="utf-8")


def test_a_cluster_of_a_local_region_is_deleted_after_its_content(invoke: Invoke, pulumi: Any, local: Local) -> None:
    del local
    kubeconfigs = paths.kubeconfigs("laptop")
    kubeconfigs.mkdir(parents=True)
    (kubeconfigs / "former.yaml").touch()
    pulumi.answer("up", events="create")

    answer = json.loads(invoke("up", "laptop", "--timeout", "0", "--format", "json").stdout)

    ups = [call[2] for call in pulumi.calls if call[0] == "up"]
    assert ups == ["laptop.bootstrap", "laptop", "laptop.bootstrap"]
    assert answer["changes"] == {"laptop.bootstrap": {"create": 4}, "laptop": {"create": 2}}


def test_a_second_up_changes_nothing_but_looks_after_the_clusters(invoke: Invoke, pulumi: Any, local: Local) -> None:
    del pulumi

    result = invoke("up", "laptop", "--speed", "10")

    assert result.exit_code == 0, result.output
    assert "laptop: no changes, " in result.stdout
    assert local.calls == ["up laptop at speed 10"]


def test_up_answers_as_data_with_progress_elsewhere(invoke: Invoke, pulumi: Any, local: Local) -> None:
    del local
    pulumi.answer("up", events="create")

    answer = json.loads(invoke("up", "laptop", "--timeout", "0", "--format", "json").stdout)

    assert answer["changes"] == {"laptop.bootstrap": {"create": 2}, "laptop": {"create": 2}}
    assert list(answer["seconds"]) == ["clusters", "region", "node pools"]
    assert answer["status"]["settled"] is True


def test_up_ends_with_3_when_pools_do_not_settle_in_time(
    invoke: Invoke, pulumi: Any, local: Local, seen: Observation
) -> None:
    del pulumi, local
    seen.objects["acme-train", "StorageClass"].clear()

    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == 3
    assert result.stderr.endswith(
        "waiting: laptop is applied, but not settled after 0.0 s\n"
        "  storage class shared-nfs is missing in acme-train\n"
        "  storage class shared-vast is missing in acme-train\n"
        "check again with: jacquard status laptop\n"
    )


@pytest.mark.parametrize(("events", "code"), [("refused", 4), ("gate", 3), ("fail", 1)])
def test_up_stops_at_the_first_stack_that_fails(
    invoke: Invoke, pulumi: Any, local: Local, events: str, code: int
) -> None:
    del local
    pulumi.answer("up", events=events, code=255)

    result = invoke("up", "laptop")

    assert result.exit_code == code
    assert len([call for call in pulumi.calls if call[0] == "up"]) == 1
    assert "Traceback" not in result.output


def test_preview_counts_by_component(invoke: Invoke, pulumi: Any) -> None:
    pulumi.answer("preview", events="bump")

    result = invoke("preview", "laptop")

    assert result.exit_code == 0, result.output
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0] == "component                  create  update  leave in the cluster"
    assert lines[1] == "NodePool acme-train-infer       2       1                     2"
    assert lines[2].startswith("laptop: 2 to create, 1 to update, 2 to leave in the cluster, ")


def test_preview_answers_as_data(invoke: Invoke, pulumi: Any) -> None:
    pulumi.answer("preview", events="bump")

    answer = json.loads(invoke("preview", "laptop", "--format", "json").stdout)

    operations = {"create": 2, "update": 1, "retain": 2}
    assert answer == {
        "environment": "laptop",
        "stacks": [
            {
                "stack": "laptop",
                "changes": operations,
                "components": [{"component": "NodePool acme-train-infer", "operations": operations}],
                "held": {"accept": None, "objects": []},
            }
        ],
        "results": [],
    }


def test_preview_shows_the_engines_own_diff_on_request(invoke: Invoke, pulumi: Any) -> None:
    pulumi.answer("preview", events="bump", stdout="~ spec.template: a => b\n")

    result = invoke("preview", "laptop", "--diff")

    assert "~ spec.template: a => b\n" in result.stdout
    assert "--diff" in pulumi.calls[-1]


RESOURCES = {"deployment": {"resources": [{"type": "kubernetes:core/v1:Namespace", "custom": True}]}}
LISTED = '[{"name": "laptop"}, {"name": "laptop.bootstrap"}]'


def test_down_empties_the_region_then_ends_the_clusters(invoke: Invoke, pulumi: Any, local: Local) -> None:
    pulumi.answer("stack ls", stdout=LISTED)
    pulumi.answer("stack export", stdout=json.dumps(RESOURCES))

    result = invoke("down", "laptop")

    assert (result.exit_code, result.stdout) == (0, "laptop: destroyed\n")
    assert [call[2] for call in pulumi.calls if call[0] == "destroy"] == ["laptop", "laptop.bootstrap"]
    # The record of plug-ins is protected in each stack, including that of the clusters.
    verbs = [" ".join(call[:2]) for call in pulumi.calls if call[0] in ("state", "destroy")]
    assert verbs == ["state unprotect", "destroy --stack"] * 2
    assert local.calls == ["down laptop"]


def test_down_of_a_region_whose_clusters_are_dead_does_not_wait_for_them(
    invoke: Invoke, pulumi: Any, local: Local
) -> None:
    pulumi.answer("stack ls", stdout=LISTED)
    pulumi.answer("stack export", stdout=json.dumps(RESOURCES))
    local.answers = False

    result = invoke("down", "laptop")

    assert result.exit_code == 0
    reason = "https://127.0.0.1:1 does not answer: connection refused"
    assert f"laptop: its clusters do not answer ({reason}); their objects are removed with them\n" in result.stderr
    assert [call[2] for call in pulumi.calls if call[0] == "destroy"] == ["laptop.bootstrap"]
    assert [call for call in pulumi.calls if call[:2] == ["stack", "rm"]] != []


def test_down_ends_the_clusters_even_when_the_region_cannot_be_emptied(
    invoke: Invoke, pulumi: Any, local: Local
) -> None:
    pulumi.answer("stack ls", stdout=LISTED)
    pulumi.answer("stack export", stdout=json.dumps(RESOURCES))
    pulumi.answer("destroy", events="fail", code=255)

    result = invoke("down", "laptop")

    assert result.exit_code == 0
    assert "; its clusters are removed anyway\n" in result.stderr
    assert local.calls == ["down laptop"]


def test_down_ends_the_clusters_even_when_the_state_cannot_be_read(invoke: Invoke, pulumi: Any, local: Local) -> None:
    pulumi.answer("stack ls", stderr="error: EOF\n", code=255)

    result = invoke("down", "laptop")

    assert (result.exit_code, result.stderr) == (1, "error: the stacks cannot be listed: EOF\n")
    assert local.calls == ["down laptop"]


def test_down_before_the_first_up_is_harmless(invoke: Invoke, pulumi: Any, local: Local) -> None:
    pulumi.answer("stack ls", stdout="[]")

    result = invoke("down", "laptop")

    assert result.exit_code == 0
    assert [call[0] for call in pulumi.calls if call[0] == "destroy"] == []
    assert local.calls == ["down laptop"]


def test_down_removes_a_local_region_although_its_data_is_broken(
    invoke: Invoke, local: Local, home: Path, data_folder: Path, edit: Edit
) -> None:
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channels: stable")
    untouched = invoke("down", "laptop")
    (home / "regions" / "laptop").mkdir(parents=True)

    result = invoke("down", "laptop")

    assert untouched.exit_code == 2
    assert result.exit_code == 0
    assert "warning: the data are invalid, so only the local region is removed:\nenvironments/laptop: " in result.stderr
    assert local.calls == ["down laptop"]


def test_a_cluster_that_cannot_be_started_is_reported(laptop: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(arguments: list[str], variables: object) -> str:
        del variables
        return "port 6443 is taken" if arguments[-1] == "globex-lab" else ""

    monkeypatch.setattr(local_region, "_call", call)

    with pytest.raises(Stop) as stop:
        local_region.revive(laptop, {})

    assert str(stop.value) == "port 6443 is taken"
