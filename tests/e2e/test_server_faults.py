"""Faults of the engine, the API server and etcd during an ``up``: the next one finishes, and nothing doubles.

The real engine applies single objects and an object set to a real API server, as a stack of a region does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from api_server import LocalApiServer
from faulty_connection import FaultyConnection
from local_region import wait_until
from small_project import small_project

from jacquard.engine.driver import Engine, Run
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

STACK, NAMESPACE = "edge-1", "mill"
SET, KIND = "rack", ("v1", "ConfigMap")
PROGRAM = """
import json
import os
from pathlib import Path

import pulumi

from components.render.manifest import Manifest, ManifestSet
from components.resources import Cluster, register
from stacks.provider_record import keep


class Part(pulumi.ComponentResource):
    def __init__(self, name, rendered, clusters):
        super().__init__("jacquard:test:Part", name)
        register(self, name, rendered, clusters)


keep(pulumi.get_stack())
declared = json.loads(Path(os.environ["DECLARED"]).read_text())
rack = {name: Manifest(body=body) for name, body in declared["rack"].items()}
management = Cluster(name="management", kubeconfig=Path(os.environ["CLUSTER"]), identifier="edge-1/management")
rendered = [
    *(Manifest(body=body) for body in declared["single"].values()),
    ManifestSet(name="rack", namespace="mill", members=rack),
]
Part("mill", rendered, {"management": management})
"""
WRITES_OF_A_CHANGE = 40
"""Fewer than the writes of a change from one of `DATA` to the other; a fault in one of them strikes."""
POINTS = sorted(random.Random(37).sample(range(1, WRITES_OF_A_CHANGE), 10))  # noqa: S311 - no secret
ROUNDS = 20


def config(name: str, cards: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"cards": str(cards)}}


def data(*, first: int, cards: int) -> dict[str, dict[str, Any]]:
    """Return the declared objects by name: 20 single objects and 20 of a set, from number ``first``.

    The content of every second object depends on ``cards``.
    """
    numbers = range(first, first + 20)
    return {
        part: {f"{part}-{number:02}": config(f"{part}-{number:02}", cards if number % 2 else 4) for number in numbers}
        for part in ("single", "rack")
    }


DATA = (data(first=1, cards=4), data(first=11, cards=8))
"""Two states; from one to the other, objects are created, changed and deleted."""


@dataclass
class Mill:
    """A stack with its cluster, which the engine reaches over a connection with faults."""

    server: LocalApiServer
    connection: FaultyConnection
    engine: Engine
    declared: Path

    def declare(self, objects: Mapping[str, Mapping[str, Any]]) -> None:
        """Let the program declare these objects."""
        self.declared.write_text(json.dumps(objects))

    def start(self, *prefix: str) -> subprocess.Popen[str]:
        """Start ``pulumi up`` in a process group of its own."""
        return subprocess.Popen(
            [*prefix, self.engine.program, "up", "--stack", STACK, "--yes", "--skip-preview", "--non-interactive"],
            cwd=paths.project(),
            env=self.engine.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def kill_at(self, point: int) -> None:
        """Start an ``up`` that is killed when this write was carried out, before it is answered."""
        started: list[subprocess.Popen[str]] = []
        killed = threading.Event()

        def strike(number: int) -> bool:
            if number == point:
                os.killpg(started[0].pid, signal.SIGKILL)
                killed.set()
            return killed.is_set()

        self.connection.reset()
        self.connection.lose = strike
        started.append(self.start())
        text, _ = started[0].communicate()
        assert killed.is_set(), f"the up had fewer than {point} writes: {text}"
        self.connection.reset()

    def up(self) -> Run:
        """Prepare the stack as ``jacquard up`` does, and apply it."""
        self.engine.prepare(STACK)
        return self.engine.run("up", STACK, "--yes", "--skip-preview")

    def live(self) -> dict[str, dict[str, Any]]:
        """Return the objects of the cluster by name, except the parent of the set."""
        found = {body["metadata"]["name"]: body for body in self.server.api.list(*KIND, namespace=NAMESPACE)}
        return {name: body for name, body in found.items() if name != SET}

    def uids(self) -> dict[str, str]:
        """Return the UIDs of the objects by name."""
        return {name: body["metadata"]["uid"] for name, body in self.live().items()}

    def require(self, objects: Mapping[str, Mapping[str, Any]]) -> None:
        """Require exactly these objects in the cluster, and a stack without further changes."""
        live, wanted = self.live(), {**objects["single"], **objects["rack"]}
        assert live.keys() == wanted.keys()
        assert {name: live[name]["data"] for name in wanted} == {name: body["data"] for name, body in wanted.items()}
        again = self.up()
        assert again.code == 0, again.tail
        assert sum(again.progress.changes.values()) == 0, again.progress.changes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    folder = tmp_path_factory.mktemp("faults") / "server"
    running = LocalApiServer(
        folder,
        kinds=(),
        controllers=("garbage-collector-controller",),
        flags={"kube-apiserver": ("--request-timeout=8s",)},
    )
    running.namespace(NAMESPACE)
    yield running
    running.stop()


@pytest.fixture
def mill(server: LocalApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:
    """A stack with the first of `DATA`, and a connection without faults so far."""
    connection = FaultyConnection(server, tmp_path / "kubeconfig.yaml")
    engine = small_project(tmp_path, monkeypatch)
    (paths.project() / "__main__.py").write_text(PROGRAM)
    with (paths.project() / paths.PROJECT_FILE).open("a") as settings:
        settings.write("plugins: {providers: [{name: jacquard, path: .venv/bin}]}\n")
    made = Mill(server, connection, engine, tmp_path / "declared.json")
    engine.variables |= {"DECLARED": str(made.declared), "CLUSTER": str(connection.kubeconfig)}
    made.declare(DATA[0])
    first = made.up()
    assert first.code == 0, first.tail
    connection.reset()
    yield made
    connection.stop()
    for name in (*made.live(), SET):
        server.api.delete(ObjectRef(*KIND, name, NAMESPACE))


def test_an_engine_that_is_killed_at_any_write_leaves_neither_an_orphan_nor_a_second_object(mill: Mill) -> None:
    for turn, point in enumerate(POINTS, start=1):
        objects = DATA[turn % 2]
        mill.declare(objects)
        mill.kill_at(point)
        before = mill.uids()

        resumed = mill.up()

        assert resumed.code == 0, resumed.tail
        after = mill.uids()
        assert {name: uid for name, uid in before.items() if name in after}.items() <= after.items(), point
        mill.require(objects)


def test_answers_that_are_lost_after_the_write_cost_a_second_run_at_most(mill: Mill) -> None:
    mill.declare(DATA[1])
    mill.connection.lose = lambda number: number % 5 == 0

    struck = mill.up()

    if struck.code:
        assert "Traceback" not in struck.tail
        assert "unreachable" in struck.tail or "closed connection" in struck.tail, struck.tail
    mill.connection.reset()
    before = mill.uids()
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    after = mill.uids()
    assert {name: uid for name, uid in before.items() if name in after}.items() <= after.items()
    mill.require(DATA[1])


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_refuses_every_third_write_costs_a_second_run_at_most(mill: Mill, status: int) -> None:
    mill.declare(DATA[1])
    mill.connection.refuse = lambda number: status if number % 3 == 0 else None

    struck = mill.up()

    assert "Traceback" not in struck.tail
    assert status != 429 or struck.code == 0, struck.tail
    mill.connection.reset()
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    mill.require(DATA[1])


def test_an_etcd_that_stands_still_during_an_up_costs_a_second_run_at_most(mill: Mill) -> None:
    mill.declare(DATA[1])

    def freeze(number: int) -> bool:
        if number == WRITES_OF_A_CHANGE // 4:
            mill.server.etcd.send_signal(signal.SIGSTOP)
        return False

    mill.connection.lose = freeze
    running = mill.start()
    wait_until(
        lambda: mill.connection.writes >= WRITES_OF_A_CHANGE // 4,
        timeout_seconds=60,
        what="the first writes",
        during=running,
    )
    time.sleep(20)
    mill.server.etcd.send_signal(signal.SIGCONT)
    text, _ = running.communicate()

    assert "Traceback" not in text
    mill.connection.reset()
    wait_until(
        lambda: mill.server.api.request("GET", "/readyz") == "ok", timeout_seconds=60, what="the server is ready"
    )
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    mill.require(DATA[1])


def test_of_two_engines_at_once_at_most_one_applies_and_none_corrupts(mill: Mill) -> None:
    for turn in range(1, ROUNDS + 1):
        mill.declare(DATA[turn % 2])
        both = [mill.start(), mill.start()]
        texts = [running.communicate()[0] for running in both]
        for running, text in zip(both, texts, strict=True):
            assert running.returncode == 0 or "locked by" in text, text
        assert any(running.returncode == 0 for running in both), texts
    mill.require(DATA[ROUNDS % 2])
