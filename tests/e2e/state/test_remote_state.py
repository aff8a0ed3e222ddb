"""Region state in stores that machines share: one machine applies and is killed, another one continues.

The tests run in the order of the file on one region for each store: each depends on the state that the previous one
leaves.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.toolchain.environment import REHEARSAL_PASSPHRASE
from tests.support.engine.state_stores import S3, Postgres, StateStore
from tests.support.local_regions.local_region import ENVIRONMENT, UP, LocalRegion, deleted_at_exit, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

STACK = f"{ENVIRONMENT}.tenant-acme"
SLICES = ("foundation", "inventory-a", "tenant-acme", "tenant-globex", "cluster-acme-train", "cluster-globex-lab")
STACKS = [f"{ENVIRONMENT}.{name}" for name in ("bootstrap", *SLICES)]
ACME = f"{ENVIRONMENT}/tenants/acme.yaml"
LABELS = ("labels: {workload: training}", "labels: {workload: training, stage: two}")
REFUSED = {S3: "SignatureDoesNotMatch", Postgres: "password authentication failed"}
UNREACHABLE = "connection refused"
_NOTHING = object()
_SAID = ("id", "type", "parent", "provider", "protect", "inputs")


@pytest.fixture(scope="module", params=[S3, Postgres], ids=["s3", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateStore]:
    """A running store."""
    kind: type[StateStore] = request.param
    server = kind(tmp_path_factory.mktemp("store") / kind.__name__.lower())
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def first(store: StateStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop in slices with its state in the store, driven from the first machine."""
    local = LocalRegion(tmp_path_factory.mktemp("first"))
    local.variables |= {**store.variables, "PULUMI_CONFIG_PASSPHRASE": REHEARSAL_PASSPHRASE}
    state = f'state: {{backend: "{store.url}", secrets_provider: passphrase}}'
    local.edit(f"{ENVIRONMENT}/region.yaml", "stacks: whole", f"stacks: sliced\n{state}")
    with deleted_at_exit(local):
        yield local


class SecondMachine(LocalRegion):
    """The region of ``other`` from another machine, which only shares data, clusters and the store.

    State contains cluster paths in the home of a region, so the other machine has the same home path with other folders
    mounted.
    """

    def __init__(self, other: LocalRegion, folder: Path) -> None:
        super().__init__(folder, environments=other.environments)
        self.home, self.variables = other.home, other.variables
        self._mounts = []
        for name in ("pulumi", "locks"):
            (own := folder / name).mkdir()
            self._mounts.append(f"mount --bind {own} {other.home / name}")

    def start(self, *command: str) -> subprocess.Popen[str]:
        mounted = " && ".join([*self._mounts, 'exec "$@"'])
        return super().start("unshare", "--mount", "sh", "-c", mounted, "sh", *command)


@pytest.fixture(scope="module")
def second(first: LocalRegion, tmp_path_factory: pytest.TempPathFactory) -> LocalRegion:
    if os.geteuid() != 0:
        pytest.skip("NO SECOND MACHINE: only root can mount folders")
    return SecondMachine(first, tmp_path_factory.mktemp("second"))


def applied(region: LocalRegion) -> dict[str, Any]:
    """Run ``up``, and return its JSON output."""
    outcome = region.jacquard("up", ENVIRONMENT, "--format", "json")
    assert outcome.code == 0, outcome.text
    return dict(json.loads(outcome.stdout))


def recorded(region: LocalRegion) -> dict[str, Any]:
    """Return the recorded state of each resource of the tenant's stack, without times and notes of the engine."""
    outcome = region.pulumi("stack", "export", "-s", STACK)
    assert outcome.code == 0, outcome.text
    resources = json.loads(outcome.stdout)["deployment"]["resources"]
    return {f"{item['urn']}.{key}": item.get(key) for item in resources for key in _SAID}


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the differences of two recorded states."""
    return {
        key: (before.get(key), after.get(key))
        for key in {**before, **after}
        if before.get(key, _NOTHING) != after.get(key, _NOTHING)
    }


def test_another_machine_finds_no_changes_after_an_apply(first: LocalRegion, second: LocalRegion) -> None:
    assert applied(first)["status"]["settled"] is True
    assert not (first.home / "pulumi" / "state" / ".pulumi" / "stacks").exists(), "the state is in a file"

    assert [changes for changes in applied(second)["changes"].values() if changes] == []
    assert differences(recorded(first), recorded(second)) == {}


def test_another_machine_completes_the_run_of_a_killed_one(
    first: LocalRegion, second: LocalRegion, store: StateStore
) -> None:
    before = recorded(first)
    first.edit(ACME, *LABELS)
    applying = first.start(*UP)
    wait_until(
        lambda: any(STACK in lock for lock in store.locks()), timeout_seconds=120, what="the lock", during=applying
    )
    os.killpg(applying.pid, signal.SIGKILL)
    applying.communicate()

    refused = second.jacquard("up", ENVIRONMENT)
    assert refused.code == 1
    assert f"error: {STACK}: locked by another operation: process " in refused.stderr, refused.text
    assert f"&& pulumi cancel -s {STACK}'" in refused.stderr, refused.text

    unlocked = second.pulumi("cancel", "--yes", "-s", STACK)
    assert unlocked.code == 0, unlocked.text
    assert applied(second)["status"]["settled"] is True
    assert [changes for changes in applied(first)["changes"].values() if changes] == []
    assert differences(before, recorded(first))

    first.edit(ACME, *reversed(LABELS))
    applied(second)
    assert differences(before, recorded(first)) == {}


def test_a_rejecting_or_unreachable_store_is_one_error_without_changes(
    first: LocalRegion, second: LocalRegion, store: StateStore
) -> None:
    before, variables = recorded(first), dict(first.variables)
    first.variables |= store.wrong
    try:
        denied = first.jacquard("up", ENVIRONMENT)
    finally:
        first.variables.update(variables)
    store.stop()
    try:
        gone = second.jacquard("up", ENVIRONMENT)
    finally:
        store.start()

    for outcome, reason in ((denied, REFUSED[type(store)]), (gone, UNREACHABLE)):
        errors = [line for line in outcome.stderr.splitlines() if line.startswith("error: ")]
        assert (outcome.code, len(errors)) == (1, 1), outcome.text
        assert reason in errors[0]
        assert not any(value in outcome.text for value in (*store.variables.values(), *store.wrong.values()))
    assert differences(before, recorded(second)) == {}


def test_an_older_state_is_upgraded_without_duplicate_objects(first: LocalRegion, second: LocalRegion) -> None:
    older = first.pulumi("stack", "export", "-s", STACK)
    assert older.code == 0, older.text
    first.edit(ACME, *LABELS)
    applied(first)
    newer, objects = recorded(first), first.uids("cluster.x-k8s.io/v1beta2", "MachineDeployment", "acme-train")
    file = first.home / "older.json"
    file.write_text(older.stdout)
    restored = second.pulumi("stack", "import", "-s", STACK, "--file", str(file))
    assert restored.code == 0, restored.text

    applied(second)

    assert differences(newer, recorded(first)) == {}
    assert first.uids("cluster.x-k8s.io/v1beta2", "MachineDeployment", "acme-train") == objects


def test_down_from_another_machine_leaves_no_resource(first: LocalRegion, second: LocalRegion) -> None:
    outcome = second.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    listed = first.pulumi("stack", "ls", "--json")
    assert {item["name"]: item["resourceCount"] for item in json.loads(listed.stdout)} == dict.fromkeys(STACKS, 0)
