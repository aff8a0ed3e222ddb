"""What the tests of the command share: the laptop environment, a copy of it that may be broken, and the runner."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from environment_data import copy_data
from typer.testing import CliRunner, Result

from cli.app import build
from cli.observe import Observation
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from components.specs.loader import load_environment
from toolchain import paths

RECORDED = Path(__file__).parent / "events"
Invoke = Callable[..., Result]


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data that this test may edit."""
    folder = copy_data(tmp_path / "environments", "laptop")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for what a command leaves on the machine."""
    folder = tmp_path / "home"
    monkeypatch.setenv("JACQUARD_HOME", str(folder))
    monkeypatch.setenv("JACQUARD_CACHE", str(tmp_path / "cache"))
    return folder


class FakePulumi:
    """A ``pulumi`` that answers as told, replays recorded events and remembers how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "pulumi"
        self.program.write_text(_FAKE.replace("PYTHON", sys.executable))
        self.program.chmod(0o755)
        self.answer("stack export", stdout='{"version": 3, "deployment": {}}')

    def answer(
        self, command: str, *, stdout: str = "", stderr: str = "", code: int = 0, events: str = "", waits: bool = False
    ) -> None:
        """Decide what ``pulumi COMMAND`` does; ``waits`` until it is interrupted."""
        replay = str(RECORDED / f"{events}.jsonl") if events else ""
        content = {"stdout": stdout, "stderr": stderr, "code": code, "events": replay, "waits": waits}
        (self.folder / f"{command}.json").write_text(json.dumps(content))

    @property
    def calls(self) -> list[list[str]]:
        log = self.folder / "calls"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    @property
    def verbs(self) -> list[str]:
        """What was called, without options: the verb and, where it comes first, the stack's."""
        return [" ".join(word for word in call[:3] if word != "--stack" and "/" not in word) for call in self.calls]


_FAKE = """#!PYTHON -S
import json, pathlib, shutil, signal, sys, time
folder, words = pathlib.Path(__file__).parent, sys.argv[1:]
with (folder / "calls").open("a") as log:
    log.write(json.dumps(words) + "\\n")
command = " ".join(words[:2]) if words[0] in ("stack", "state") else words[0]
told = folder / (command + ".json")
answer = json.loads(told.read_text()) if told.exists() else {}
if words[:2] == ["stack", "import"]:
    (folder / "imported.json").write_text(sys.stdin.read())
if answer.get("waits"):
    signal.signal(signal.SIGINT, lambda *_: sys.exit(255))
    (folder / "waiting").touch()
    time.sleep(60)
if answer.get("events"):
    shutil.copyfile(answer["events"], words[words.index("--event-log") + 1])
sys.stdout.write(answer.get("stdout", ""))
sys.stderr.write(answer.get("stderr", ""))
sys.exit(answer.get("code", 0))
"""


@pytest.fixture
def pulumi(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    """Put a fake engine where the toolchain would put the real one."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def process(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
        del environment
        return {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": backend_url or f"file://{home}/pulumi/state?metadata=skip",
        }

    monkeypatch.setattr("toolchain.environment.process", process)
    return FakePulumi(folder)


@pytest.fixture
def invoke(data_folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` in this process, without colour, on a copy of the data."""
    del data_folder, home
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("JACQUARD_BINARIES", raising=False)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(build(), list(arguments))

    return run


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    """Replace a text that must be there in a file."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert old in text, f"{path} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    return replace


def conditions(**states: str) -> list[dict[str, Any]]:
    return [{"type": kind, "status": status} for kind, status in states.items()]


def settled_region(environment: Environment) -> Observation:
    """Return what the API servers answer when everything is as ordered."""
    seen: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def add(
        kind: str, name: str, namespace: str | None = None, *, cluster: str = MANAGEMENT, **rest: Any
    ) -> dict[str, Any]:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
        body = {"metadata": metadata, **rest}
        seen.setdefault((cluster, kind), []).append(body)
        return body

    for tenant in environment.tenants:
        for cluster in tenant.clusters:
            add(
                "Cluster",
                cluster.name,
                cluster.name,
                spec={"controlPlaneEndpoint": {"host": "10.3.0.1", "port": 6443}},
                status={"conditions": conditions(ControlPlaneAvailable="True")},
            )
            add("KamajiControlPlane", cluster.name, cluster.name, status={"version": cluster.version})
            for name in cluster.storage:
                add("StorageClass", name, cluster=cluster.name)
        if tenant.vms is None:
            continue
        for vm in tenant.vms.platform:
            add("VirtualMachine", vm.name, "vms", cluster=tenant.vms.cluster, status={"printableStatus": "Running"})
    for key, allocation in environment.allocations.groups.items():
        cluster_name, name = key.split("/")[0], key.replace("/", "-")
        pin = environment.image_pins.groups[key]
        image = {"checksum": pin.sha256}
        add("Metal3MachineTemplate", f"{name}-t1", cluster_name, spec={"template": {"spec": {"image": image}}})
        count = allocation.nodes
        add(
            "MachineDeployment",
            name,
            cluster_name,
            metadata={"generation": 2},
            spec={"replicas": count},
            status={
                "observedGeneration": 2,
                **dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"), count),
                "conditions": conditions(Available="True", RollingOut="False", MachinesUpToDate="True"),
            },
        )
        for number in range(count):
            add(
                "Machine",
                f"{name}-{number}",
                cluster_name,
                metadata={"labels": {"cluster.x-k8s.io/deployment-name": name}},
                spec={"infrastructureRef": {"name": f"{name}-{number}"}},
                status={"conditions": conditions(Ready="True", UpToDate="True")},
            )
            add(
                "Metal3Machine",
                f"{name}-{number}",
                cluster_name,
                metadata={"annotations": {"cluster.x-k8s.io/cloned-from-name": f"{name}-t1"}},
            )
    add("BareMetalHost", "a01-u01", "acme-train", status={"provisioning": {"state": "provisioned"}})
    add("BareMetalHost", "a01-u02", "inventory", status=None)
    return Observation(objects=seen)


@pytest.fixture
def settled() -> Callable[[Environment], Observation]:
    """Return what API servers answer when everything is as an environment orders."""
    return settled_region


@pytest.fixture
def seen(laptop: Environment) -> Observation:
    """What the API servers of a settled laptop answer; a test may spoil it."""
    return settled_region(laptop)
