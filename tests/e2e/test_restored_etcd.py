"""An etcd that is restored to a snapshot: a refresh reports lost objects, and the next ``up`` creates them again.

The restore follows the page `restore`. The real engine applies objects to a real API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import LocalApiServer
from mill import DATA, NAMESPACE, STACK, Mill, applied, serving

from jacquard.providers.kube import ObjectRef

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalApiServer]:
    with serving(tmp_path / "server") as running:
        yield running


@pytest.fixture
def mill(server: LocalApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:
    with applied(server, tmp_path, monkeypatch) as made:
        yield made


def revision(server: LocalApiServer) -> int:
    """Return the resource version of a list of all objects."""
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    return int(server.api.request("GET", path)["metadata"]["resourceVersion"])


def test_an_up_after_a_restore_and_a_refresh_creates_only_lost_objects(mill: Mill, tmp_path: Path) -> None:
    snapshot = tmp_path / "yesterday.db"
    mill.server.snapshot(snapshot)
    yesterday = mill.uids()
    mill.declare(DATA[1])
    assert mill.up().code == 0
    today, before = mill.uids(), revision(mill.server)

    mill.server.restore(snapshot)

    assert mill.uids() == yesterday
    assert revision(mill.server) > before, "clients with a watch would wait for versions that were lost"
    drift = mill.engine.run("refresh", STACK, "--preview-only")
    assert drift.code == 0, drift.tail
    shown = drift.log.read_text()
    assert [name for name in today.keys() - yesterday.keys() if name.startswith("single-") and name not in shown] == []
    assert mill.uids() == yesterday
    refreshed = mill.engine.run("refresh", STACK, "--yes", "--skip-preview")
    assert refreshed.code == 0, refreshed.tail
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
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
