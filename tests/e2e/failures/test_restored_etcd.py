"""An etcd that is restored to a snapshot: `up --refresh` creates the lost objects again, and changes no others.

The restore follows the page `restore`. The real engine applies objects to a real API server, with the options of the
command.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.cli.runs import refresh
from jacquard.engine.driver import Run
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine.faulty_stack import DATA, KIND, NAMESPACE, SET, STACK, FaultyStack, applied, serving

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]
REFRESH = refresh.options(refresh=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalApiServer]:
    with serving(tmp_path / "server") as running:
        yield running


@pytest.fixture
def mill(server: LocalApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStack]:
    with applied(server, tmp_path, monkeypatch) as made:
        yield made


def revision(server: LocalApiServer) -> int:
    """Return the resource version of a list of all objects."""
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    return int(server.api.request("GET", path)["metadata"]["resourceVersion"])


def previewed(mill: FaultyStack) -> tuple[Run, list[str]]:
    """Return the preview with a refresh, and the command's notes about it."""
    run = mill.engine.run("preview", STACK, *REFRESH)
    assert run.code == 0, run.tail
    return run, list(refresh.found(run))


def test_a_refreshing_up_after_a_restore_creates_only_lost_objects(mill: FaultyStack, tmp_path: Path) -> None:
    snapshot = tmp_path / "yesterday.db"
    mill.server.snapshot(snapshot)
    yesterday = mill.uids()
    mill.declare(DATA[1])
    assert mill.up().code == 0
    today, before = mill.uids(), revision(mill.server)

    mill.server.restore(snapshot)

    assert mill.uids() == yesterday
    assert revision(mill.server) > before, "clients with a watch would wait for versions that were lost"
    trusting = mill.up()
    assert (trusting.code, dict(trusting.progress.changes)) == (0, {}), "the engine trusts its state"
    assert mill.uids() == yesterday
    state = mill.engine.export(STACK)
    preview, notes = previewed(mill)
    lost = {*DATA[1]["single"]} - yesterday.keys()
    created = [step for step in preview.progress.steps.found.values() if step.operation == "create"]
    assert {step.declared["metadata"]["name"] for step in created} == lost
    assert preview.progress.plan.losses == {}
    assert f"{len(today.keys() - yesterday.keys())} recorded objects are missing in the cluster: " in notes[0]
    assert mill.engine.export(STACK)["deployment"]["resources"] == state["deployment"]["resources"]
    assert mill.uids() == yesterday, "a preview changes nothing"

    resumed = mill.up(*REFRESH)

    assert resumed.code == 0, resumed.tail
    assert resumed.progress.changes["create"] == len(lost)
    after, wanted = mill.uids(), {*DATA[1]["single"], *DATA[1]["rack"]}
    kept = yesterday.keys() & today.keys()
    assert {name: after[name] for name in kept} == {name: yesterday[name] for name in kept}
    assert wanted <= after.keys()
    returned = after.keys() - wanted
    assert returned == DATA[0]["single"].keys() - DATA[1]["single"].keys(), (
        "deleted since the snapshot, not in the state"
    )
    for name in returned:
        mill.server.api.delete(ObjectRef("v1", "ConfigMap", name, NAMESPACE))
    mill.require(DATA[1])


def test_a_set_that_lost_its_parent_or_all_objects_is_created_again(mill: FaultyStack) -> None:
    members = sorted(DATA[0]["rack"])
    for names in ([members[0]], [SET, *members[1:3]], [SET, *members]):
        before = mill.uids()
        for name in names:
            mill.server.api.delete(ObjectRef(*KIND, name, NAMESPACE))

        _, notes = previewed(mill)
        again = mill.up(*REFRESH)

        lost = [name for name in names if name != SET]
        assert notes[0].startswith(f"{STACK}: {len(lost)} recorded object")
        assert again.code == 0, again.tail
        assert mill.server.api.get(ObjectRef(*KIND, SET, NAMESPACE)) is not None
        kept = before.keys() - set(lost)
        assert {name: uid for name, uid in mill.uids().items() if name in kept} == {name: before[name] for name in kept}
        mill.require(DATA[0])
