"""A stack of single objects and an object set at a real API server, behind a connection with faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jacquard.engine.driver import Engine, Run
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.api_servers.faulty_connection import FaultyConnection
from tests.support.engine.small_project import small_project

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
"""Lower bound of the writes of a change from one of `DATA` to the other; a fault hits one of them."""


def config(name: str, cards: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"cards": str(cards)}}


def data(*, first: int, cards: int) -> dict[str, dict[str, Any]]:
    """Return the declared objects by name: 20 single objects and 20 of a set, numbered from ``first``.

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
class FaultyStack:
    """A stack with its cluster, which the engine reaches over a faulty connection."""

    server: LocalApiServer
    connection: FaultyConnection
    engine: Engine
    declared: Path

    def declare(self, objects: Mapping[str, Mapping[str, Any]]) -> None:
        """Set the objects that the program declares."""
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
        """Start an ``up`` that is killed after this write is processed and before the response is sent."""
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

    def up(self, *options: str) -> Run:
        """Prepare the stack as ``jacquard up`` does, and apply it."""
        self.engine.prepare(STACK)
        return self.engine.run("up", STACK, "--yes", "--skip-preview", *options)

    def live(self) -> dict[str, dict[str, Any]]:
        """Return the objects of the cluster by name, except the parent of the set."""
        found = {body["metadata"]["name"]: body for body in self.server.api.list(*KIND, namespace=NAMESPACE)}
        return {name: body for name, body in found.items() if name != SET}

    def uids(self) -> dict[str, str]:
        """Return the UIDs of the objects by name."""
        return {name: body["metadata"]["uid"] for name, body in self.live().items()}

    def require(self, objects: Mapping[str, Mapping[str, Any]]) -> None:
        """Assert that the cluster has exactly these objects, and that the stack has no further changes."""
        live, wanted = self.live(), {**objects["single"], **objects["rack"]}
        assert live.keys() == wanted.keys()
        assert {name: live[name]["data"] for name in wanted} == {name: body["data"] for name, body in wanted.items()}
        again = self.up()
        assert again.code == 0, again.tail
        assert sum(again.progress.changes.values()) == 0, again.progress.changes


@contextmanager
def serving(folder: Path) -> Iterator[LocalApiServer]:
    """Yield an API server with a request timeout of 8 seconds, with the garbage collector."""
    running = LocalApiServer(
        folder,
        kinds=(),
        controllers=("garbage-collector-controller",),
        flags={"kube-apiserver": ("--request-timeout=8s",)},
    )
    try:
        running.namespace(NAMESPACE)
        yield running
    finally:
        running.stop()


@contextmanager
def applied(server: LocalApiServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStack]:
    """Yield a stack with the first of `DATA` applied, and a connection without faults so far."""
    connection = FaultyConnection(server, folder / "kubeconfig.yaml")
    engine = small_project(folder, monkeypatch)
    (paths.project() / "__main__.py").write_text(PROGRAM)
    with (paths.project() / paths.PROJECT_FILE).open("a") as settings:
        settings.write("plugins: {providers: [{name: jacquard, path: .venv/bin}]}\n")
    made = FaultyStack(server, connection, engine, folder / "declared.json")
    engine.variables |= {"DECLARED": str(made.declared), "CLUSTER": str(connection.kubeconfig)}
    made.declare(DATA[0])
    first = made.up()
    assert first.code == 0, first.tail
    connection.reset()
    yield made
    connection.stop()
    for name in (*made.live(), SET):
        server.api.delete(ObjectRef(*KIND, name, NAMESPACE))
