"""Real slurmctld and slurmrestd answer the program that holds Machines of reserved nodes.

Slurm is Debian's release 22.05: its API has version 0.0.38, whose times are plain numbers, and the user of the test
administers it. The program signs its token with the key that Slurm has. Pods and Machines are plain objects; in
`test_slurm_promotion`, Cluster API holds a Machine.
"""

from __future__ import annotations

import base64
import datetime as dt
import getpass
import json
import os
import urllib.error
from collections.abc import Iterator
from typing import Any

import pytest

from components.inputs.workloads.slurm import reservations_of
from components.programs.slurm_reservations import reasons_of
from components.render.workloads.slurm_reservations import NAME, SETTINGS
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.workloads.slurm_clusters import placed_slurm
from tests.support.workloads.slurm_rest import SlurmRest

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

NODES = 12
POOL = "train"


class Tenant:
    """The API server of the tenant's cluster: pods of Slurm nodes, the Secret of keys, and the way to slurmrestd."""

    def __init__(self, slurm: SlurmRest, key: bytes) -> None:
        self._slurm, self._key = slurm, key

    def items(self, *_: str, **_query: str) -> Iterator[dict[str, Any]]:
        for number in range(NODES):
            yield {"metadata": {"name": f"{POOL}-{number}"}, "spec": {"nodeName": f"host-{number}"}}

    def get(self, *_: str) -> dict[str, Any]:
        return {"data": {"jwt.key": base64.b64encode(self._key).decode()}}

    def ask(self, _namespace: str, _service: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        return self._slurm.get(path, headers)


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Return the rendered settings of the program, for this release of Slurm."""
    environment = load_environment("laptop", ENVIRONMENTS)
    given = reservations_of(environment, placed_slurm(environment))
    assert given is not None
    [config] = [item for item in given.in_management({}) if (item.kind, item.name) == ("ConfigMap", NAME)]
    found = json.loads(config.body["data"][SETTINGS])
    return {**found, "path": found["path"].replace("v0.0.44", "v0.0.38"), "user": getpass.getuser()}


@pytest.fixture(scope="module")
def key() -> bytes:
    return os.urandom(1024)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory, key: bytes) -> Iterator[SlurmRest]:
    started = SlurmRest(f"{POOL}-[0-{NODES - 1}]", key, tmp_path_factory.mktemp("slurm") / "slurm")
    try:
        started.start_all()
        yield started
    finally:
        started.stop()


def needed(slurm: SlurmRest, key: bytes, settings: dict[str, Any]) -> dict[str, str]:
    """Return the reservations that need nodes of the pool, by name of the node of Kubernetes."""
    found = reasons_of(Tenant(slurm, key), settings, dt.datetime.now(dt.UTC))[POOL]  # type: ignore[arg-type]
    return {node: name for node, name in found.items() if name}


def test_nodes_of_reservations_of_users_are_needed(slurm: SlurmRest, key: bytes, settings: dict[str, Any]) -> None:
    user, soon = f"users={getpass.getuser()}", settings["pools"][POOL] // 2
    assert needed(slurm, key, settings) == {}

    slurm.reserve("active", user, "starttime=now", "duration=60", "nodes=train-[0-1,8]")
    slurm.reserve("soon", user, f"starttime=now+{soon}", "duration=60", "nodes=train-[9-10]", "flags=daily")
    slurm.reserve("later", user, "starttime=now+2days", "duration=60", "nodes=train-2")
    slurm.reserve("maintenance", user, "starttime=now", "duration=60", "nodes=train-3", "flags=maint")
    slurm.reserve("floating", user, "starttime=now+1minutes", "duration=60", "nodes=train-4", "flags=time_float")

    assert needed(slurm, key, settings) == {
        **dict.fromkeys(("host-0", "host-1", "host-8"), "active"),
        **dict.fromkeys(("host-9", "host-10"), "soon"),
    }


def test_nodes_are_free_after_the_deletion_of_their_reservation(
    slurm: SlurmRest, key: bytes, settings: dict[str, Any]
) -> None:
    slurm.reserve("short", f"users={getpass.getuser()}", "starttime=now", "duration=60", "nodes=train-6")
    assert needed(slurm, key, settings)["host-6"] == "short"

    assert slurm.run("scontrol", "delete", "ReservationName=short").returncode == 0

    assert "host-6" not in needed(slurm, key, settings)


def test_slurm_refuses_tokens_of_another_key(slurm: SlurmRest, settings: dict[str, Any]) -> None:
    with pytest.raises(urllib.error.HTTPError):
        needed(slurm, os.urandom(1024), settings)
