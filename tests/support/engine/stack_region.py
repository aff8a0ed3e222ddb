"""A region with the simulated Pulumi Kubernetes Operator, a repository of two commits, and a fake ``pulumi``."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.operators.releases.installed import HELM, SOURCE
from jacquard.lab.rehearsal.operators.stacks.controller import CHART, Stacks
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from tests.support.data.repositories import COMMIT, git
from tests.support.objects.live_objects import obj

NS = "pulumi-kubernetes-operator"
PULUMI = "pulumi.com/v1"
_LONGEST_SECONDS = 60.0
"""Time after which a test that waits for a process fails."""
_MOST_ROUNDS = 40
_FAKE = """#!PYTHON -IS
import json, os, pathlib, re, signal, sys, time
folder, words, variables = pathlib.Path("FOLDER"), sys.argv[1:], os.environ
kubeconfig = pathlib.Path(variables["KUBECONFIG"])
call = {
    "arguments": " ".join(words),
    "content": pathlib.Path("content").read_text(),
    "token": re.search("token: (.*)", kubeconfig.read_text())[1],
    "variables": dict(variables),
}
def interrupt(*_):
    (folder / "interrupted").touch()
    sys.exit(130)
signal.signal(signal.SIGINT, interrupt)
with open(folder / "calls", "a") as file:
    file.write(json.dumps(call) + "\\n")
while words[0] == "up" and (folder / "blocked").exists():
    time.sleep(0.01)
answer = folder / ("answer-" + words[0])
text, code = json.loads(answer.read_text()) if answer.exists() else ("", 0)
print(text)
sys.exit(code)
"""


def stack(name: str, *, prerequisites: tuple[str, ...] = (), **spec: Any) -> dict[str, Any]:
    """Return a Stack as Jacquard renders it, without its source."""
    pod = {
        "containers": [{"name": "pulumi", "volumeMounts": [{"name": "kubeconfig", "mountPath": "/kubeconfigs"}]}],
        "volumes": [{"name": "kubeconfig", "configMap": {"name": "kubeconfig"}}],
    }
    workspace = {
        "image": f"registry.example/pulumi@sha256:{'0' * 64}",
        "env": [{"name": "JACQUARD_KUBECONFIGS", "value": "/kubeconfigs"}],
        "envFrom": [{"secretRef": {"name": "state"}}],
        "podTemplate": {"spec": pod},
    }
    fixed = {
        "stack": f"laptop.{name}",
        "backend": "s3://state",
        "prerequisites": [{"name": other} for other in prerequisites],
        "serviceAccountName": "runner",
        "workspaceTemplate": {"spec": workspace},
    }
    return obj(PULUMI, "Stack", name, {**fixed, **spec}, NS)


def secret(name: str, **data: str) -> dict[str, Any]:
    """Return a Secret in the namespace of the operator."""
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return obj("v1", "Secret", name, namespace=NS, data=encoded)


def release(*, ready: bool) -> dict[str, Any]:
    """Return the release of the operator's chart."""
    status = {"conditions": [{"type": "Ready", "status": str(ready)}]}
    return obj(HELM, "HelmRelease", CHART, {"chartRef": {"kind": "OCIRepository", "name": CHART}}, NS, status=status)


class StackRegion:
    """The simulated operator of one region; tests run its rounds."""

    def __init__(self, folder: Path, objects: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self._objects = objects
        self._state, self.repository = folder / "fake", folder / "repository"
        monkeypatch.setenv("JACQUARD_HOME", str(folder / "home"))
        monkeypatch.setattr(environment, "engine", self._engine)
        self.region = Region("laptop", paths.region("laptop"))
        self.ended: list[None] = []
        """One entry for each process that has ended."""
        self._operator = self._started()
        self._write_kubeconfig()
        self._write_fake()
        self.commits = [self._commit(content) for content in ("first", "second")]

    def view(self, *stacks: dict[str, Any], ready: bool = True) -> Any:
        """Return the objects of a management cluster in which all requirements of ``stacks`` are met."""
        for body in stacks:
            if body["kind"] == "Stack":
                body["spec"] = {"projectRepo": self.repository.as_uri(), "commit": self.commits[0], **body["spec"]}
        chart = obj(SOURCE, "OCIRepository", CHART, {"url": f"oci://registry.example/{CHART}"}, NS)
        account = obj("v1", "ServiceAccount", "runner", namespace=NS)
        kubeconfig = obj("v1", "ConfigMap", "kubeconfig", namespace=NS, data={"management.yaml": "x"})
        needed = (chart, account, kubeconfig, secret("state", LOGIN="simulated"))
        return self._objects(release(ready=ready), *needed, *stacks)

    def rounds(self, view: Any, number: int) -> None:
        """Run rounds without waiting for processes."""
        for _ in range(number):
            self._operator.reconcile(view)

    def settle(self, view: Any) -> None:
        """Run rounds, and wait for their processes, until nothing changes."""
        before = ""
        for _ in range(_MOST_ROUNDS):
            self._operator.reconcile(view)
            self.wait(lambda: not processes.running(self.region.folder))
            after = json.dumps([[*view.store.values()], self._sizes()])
            if after == before:
                return
            before = after
        pytest.fail(f"still changing after {_MOST_ROUNDS} rounds: {before}")

    def start(self, view: Any) -> None:
        """Run rounds until an update runs, and keep it running."""
        (self._state / "blocked").touch()

        def runs() -> bool:
            self._operator.reconcile(view)
            return bool(self.updates())

        self.wait(runs)

    def go_on(self) -> None:
        """Let a running update end."""
        (self._state / "blocked").unlink()

    def restart(self) -> None:
        """Restart the process of the simulated operators."""
        self._operator = self._started()

    def kill(self) -> None:
        """Kill all processes of the region and their children."""
        for process in processes.running(self.region.folder):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self.wait(lambda: not processes.running(self.region.folder))

    def answer(self, text: str, code: int, command: str = "up") -> None:
        """Set output and exit code of ``pulumi COMMAND``."""
        (self._state / f"answer-{command}").write_text(json.dumps([text, code]))

    def calls(self) -> list[dict[str, Any]]:
        """Return all calls of ``pulumi`` in their order."""
        path = self._state / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def updates(self) -> list[str]:
        """Return the stacks of all calls of ``pulumi up``."""
        words = [call["arguments"].split() for call in self.calls()]
        return [arguments[arguments.index("--stack") + 1] for arguments in words if arguments[0] == "up"]

    def interrupted(self) -> bool:
        """Return whether a call of ``pulumi`` was interrupted."""
        return (self._state / "interrupted").exists()

    def folder(self, name: str) -> Path:
        """Return the folder of a workspace."""
        return self.region.folder / "workspaces" / name

    @staticmethod
    def cool(view: Any, name: str) -> None:
        """Let the last update of a Stack be long ago."""
        view.edit("Stack", name, NS, {"status": {"lastUpdate": {"lastResyncTime": "2020-01-01T00:00:00Z"}}})

    @staticmethod
    def conditions(view: Any, name: str, kind: str = "Stack") -> dict[str, tuple[str, str, str]]:
        """Return status, reason and message of each condition of a Stack or of its Workspace."""
        conditions = view.get(kind, name, NS)["status"]["conditions"]
        return {one["type"]: (one["status"], one["reason"], one["message"]) for one in conditions}

    def _started(self) -> Stacks:
        return Stacks(self.region, lambda: self.ended.append(None))

    def _engine(self, _: str, *, backend_url: str) -> dict[str, str]:
        return {"PATH": f"{self._state}{os.pathsep}{os.environ['PATH']}", "PULUMI_BACKEND_URL": backend_url}

    def _write_kubeconfig(self) -> None:
        cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
        context = {"name": "c", "context": {"cluster": "c", "user": "admin"}}
        config = {"clusters": [cluster], "users": [{"name": "admin", "user": {"token": "all rights"}}]}
        path = self.region.kubeconfig(MANAGEMENT)
        path.parent.mkdir(parents=True)
        path.write_text(yaml.safe_dump({**config, "contexts": [context], "current-context": "c"}))

    def _write_fake(self) -> None:
        self._state.mkdir()
        program = self._state / "pulumi"
        program.write_text(_FAKE.replace("PYTHON", sys.executable).replace("FOLDER", str(self._state)))
        program.chmod(0o755)

    def _commit(self, content: str) -> str:
        if not self.repository.exists():
            self.repository.mkdir()
            git(self.repository, "init", "--quiet")
        (self.repository / "content").write_text(content)
        git(self.repository, "add", ".")
        git(self.repository, *COMMIT)
        return git(self.repository, "rev-parse", "HEAD")

    def _sizes(self) -> list[int]:
        return [path.stat().st_size for path in sorted(self.region.logs.glob("*"))]

    @staticmethod
    def wait(is_so: Callable[[], bool]) -> None:
        """Wait for a state."""
        end = time.monotonic() + _LONGEST_SECONDS
        while not is_so():
            if time.monotonic() > end:
                pytest.fail(f"not after {_LONGEST_SECONDS:g} s")
            time.sleep(0.01)
