"""Stacks of the Pulumi Kubernetes Operator: updates in the order of their prerequisites, with upstream's retries.

Source: pulumi/pulumi-kubernetes-operator v2, ``operator/internal/controller/pulumi/stack_controller.go`` and
``operator/internal/controller/auto/workspace_controller.go``. The simulation starts when a release of the chart is
ready, and processes the Stacks in the namespace of this release.

An update is a local process: ``git clone`` of the commit, ``pulumi stack select`` and ``pulumi up``. It has the token
of the workspace's ServiceAccount, so the API server checks the permissions. Differences:

- Waits are divided by ``JACQUARD_SPEED``.
- Update objects do not exist. The cause that a kubelet reports for the pod of a Workspace follows the message of the
  Stack.
- The commit is cloned from the repository on this machine instead of a URL by HTTPS or SSH, and a Stack without
  `backend` has the state of the region's commands.
- The image of the workspace must have a digest; fields and sources that Jacquard does not use are rejected.
- An update outlasts a restart of the simulation; a restart of the real operator aborts it.

Not verified: pods, their image, resources and network; the agent and its gRPC connection; ``pulumi install``; the
permissions of the operator itself; destruction of a deleted Stack's resources, which Jacquard never requests.
"""

import hashlib
import json
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.operators.releases.installed import cluster_of, installed
from jacquard.lab.rehearsal.operators.stacks import pods, workspace_objects, workspaces
from jacquard.lab.rehearsal.operators.stacks.record import (
    FAILED,
    PROCESSING,
    UNSATISFIED,
    WORKSPACE_FAILED,
    Record,
    Stalled,
    unmet,
)
from jacquard.lab.rehearsal.operators.stacks.sources import FETCH, Source, refuse, source_of
from jacquard.lab.rehearsal.operators.stacks.workspaces import Workspace
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, deleting, hold, let_go
from jacquard.lab.rehearsal.region import Region
from jacquard.machine import settings
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ApiError

STACK = ("pulumi.com/v1", "Stack")
CHART = "pulumi-kubernetes-operator"
FINALIZER = "finalizer.stack.pulumi.com"
WAITING, RUNNING = "waiting for the workspace", "the update is running"
_FETCH, _SELECT = "fetch", "select"
_OPTIONS = ("--non-interactive", "--color", "never")
_AGAIN_SECONDS, _LONGEST_SECONDS = 10, 300
"""First and longest delay before a kubelet starts a failed container again."""

_Then = Callable[[], None] | None


class Stacks:
    """The Stacks of a management cluster."""

    def __init__(self, region: Region, wake: Callable[[], object]) -> None:
        """Start without state: workspaces are found in the region's folder, their processes in the process table.

        Args:
            region: The region.
            wake: Function that starts the next round early; it is called when a process ends.
        """
        self._region = region
        self._wake = wake
        self._fetches: dict[str, tuple[int, float]] = {}
        """Number and time of the attempts to clone the source of a workspace."""

    def reconcile(self, view: View) -> None:
        """Take the next step of each Stack."""
        release = next((one for one in installed(view, CHART) if not cluster_of(one)), None)
        if release is None:
            return
        namespace = release["spec"].get("targetNamespace") or release["metadata"]["namespace"]
        stacks = {
            stack["metadata"]["name"]: stack
            for stack in view.all(*STACK)
            if stack["metadata"]["namespace"] == namespace
        }
        existing = workspaces.names(self._region)
        running = processes.running(self._region.folder) if existing else []
        for name in existing:
            if name not in stacks:
                Workspace(self._region, name, running).remove(settings.speed())
        for name, stack in stacks.items():
            try:
                self._reconcile(view, stack, Workspace(self._region, name, running))
            except ApiError as error:  # such as a token of a deleted account; the other Stacks continue
                LOG.warning("Stack %s: %s", name, error)

    def _reconcile(self, view: View, stack: Object, workspace: Workspace) -> None:
        if deleting(stack):
            if FINALIZER not in (stack["metadata"].get("finalizers") or ()):
                return
        elif hold(view, stack, FINALIZER):
            return
        record, then = Record(stack), None
        try:
            then = self._step(view, record, workspace)
        except Stalled as stalled:
            record.stalled(stalled.reason, str(stalled))
        except ToolchainError as error:
            record.stalled(WORKSPACE_FAILED, f"InitializationFailed: {error}")
        if record.save(view) and then is not None:
            then()

    def _step(self, view: View, record: Record, workspace: Workspace) -> _Then:
        """Take the next step of a Stack; return what follows when its status is written."""
        current = record.status.get("currentUpdate")
        if current is not None:
            if workspace.is_running:
                record.reconciling(PROCESSING, RUNNING)
                return None
            record.end(failure=_failure(view, record, workspace, current["name"]))
        if deleting(record.stack):
            record.ready()
            return partial(let_go, view, record.stack, FINALIZER)
        source = source_of(view, record.spec, record.namespace)
        if record.is_synced(source.commit, settings.speed()):
            record.report_result()
            is_kept = record.last["state"] == FAILED or record.spec.get("workspaceReclaimPolicy") != "Delete"
            return None if is_kept else partial(_reclaim, view, record, workspace)
        if waiting := _prerequisites(view, record):
            record.reconciling(UNSATISFIED, waiting)
            return None
        live = workspace_objects.find(view, record)
        if waiting := self._prepare(view, record, workspace, live, source):
            workspace_objects.check(live)
            record.reconciling(PROCESSING, waiting)
            return None
        record.reconciling(PROCESSING, RUNNING)
        name = f"{record.name}-{time.time_ns() // 1_000_000:x}"
        record.begin(name, source.commit)
        return partial(self._update, view, record, workspace, name)

    def _prepare(self, view: View, record: Record, workspace: Workspace, live: Object | None, source: Source) -> str:
        """Take the next step of the workspace; return the reason for which it is not ready, or an empty string."""
        key = _key(record.spec)
        if live is None or workspace.key() != key or workspace.is_ending:
            return self._create(view, record, workspace, key)
        if workspace.is_running:
            return WAITING
        fetched = workspace.result(_FETCH)
        if fetched != 0:
            return self._fetch(workspace, source, record.name, failed=fetched is not None)
        return self._initialize(view, record, workspace, live)

    def _create(self, view: View, record: Record, workspace: Workspace, key: str) -> str:
        if problem := pods.missing(view, record):
            return f"{WAITING}: {problem}"
        if workspace.folder.exists():
            workspace.remove(settings.speed())
            return WAITING
        workspace_objects.apply(view, record)
        workspace.create(key)
        self._fetches.pop(record.name, None)
        return WAITING

    def _initialize(self, view: View, record: Record, workspace: Workspace, live: Object) -> str:
        selected = workspace.result(_SELECT)
        if selected is None:
            workspace_objects.report(view, live, workspace_objects.INITIALIZING)
            self._select(view, record, workspace)
            return WAITING
        if selected != 0:
            workspace_objects.fail(view, live, workspace.message(_SELECT, pods.variables(view, record)[1]))
            return WAITING
        workspace_objects.report(view, live, workspace_objects.READY)
        return ""

    def _fetch(self, workspace: Workspace, source: Source, name: str, *, failed: bool) -> str:
        """Clone the source, after a delay if the last attempt failed; return the reason to wait."""
        attempts, last = self._fetches.get(name, (0, 0.0))
        delay = min(_AGAIN_SECONDS * 2 ** max(attempts - 1, 0), _LONGEST_SECONDS) / settings.speed()
        reason = f"{WAITING}: {workspace.message(_FETCH, source.secrets())}" if failed else WAITING
        if not failed or time.monotonic() - last > delay:
            self._fetches[name] = (attempts + 1, time.monotonic())
            arguments = [
                "sh",
                "-c",
                FETCH,
                "fetch",
                workspace.repository(source.url),
                source.commit,
                str(workspace.source),
            ]
            variables = {**workspace.git_variables(), **source.variables(workspace.folder)}
            self._follow(workspace.start(_FETCH, arguments, variables, workspace.folder))
        return reason

    def _select(self, view: View, record: Record, workspace: Workspace) -> None:
        provider = record.spec.get("secretsProvider")
        options = ["--secrets-provider", provider] if provider else []
        self._pulumi(view, record, workspace, _SELECT, ["stack", "select", "--create", *options, record.spec["stack"]])

    def _update(self, view: View, record: Record, workspace: Workspace, name: str) -> None:
        options = ["--refresh"] if record.spec.get("refresh") else []
        arguments = ["up", "--yes", "--skip-preview", *options, "--stack", record.spec["stack"]]
        self._pulumi(view, record, workspace, name, arguments)

    def _pulumi(self, view: View, record: Record, workspace: Workspace, step: str, arguments: list[str]) -> None:
        given, _ = pods.variables(view, record)
        backend = record.spec.get("backend") or given.get("PULUMI_BACKEND_URL")
        workspace.write_kubeconfig(view, record.namespace, pods.account_of(record.spec))
        variables = workspace.pulumi_variables(backend, given)
        folder = workspace.fetched() / (record.spec.get("repoDir") or "")
        command = [workspace.program(variables), *arguments, *_OPTIONS]
        self._follow(workspace.start(step, command, variables, folder))

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Start the next round when a process ends, instead of after the pause of a region without changes."""

        def wait() -> None:
            process.wait()
            self._wake()

        threading.Thread(target=wait, daemon=True).start()


def _reclaim(view: View, record: Record, workspace: Workspace) -> None:
    workspace_objects.delete(view, workspace_objects.find(view, record))
    workspace.remove(settings.speed())


def _failure(view: View, record: Record, workspace: Workspace, step: str) -> str | None:
    """Return the message of a failed update; None if it succeeded."""
    code = workspace.result(step)
    if code is None:
        return "the update was aborted: its process ended without an exit code"
    return workspace.message(step, pods.variables(view, record)[1]) if code else None


def _prerequisites(view: View, record: Record) -> str:
    """Return the reason why the prerequisites are not satisfied; empty if they are."""
    problems = {}
    for entry in record.spec.get("prerequisites") or ():
        if entry.get("requirement"):
            refuse("spec.prerequisites[].requirement: not simulated in a local region; remove it")
        name = entry["name"]
        if problem := unmet(view.find(*STACK, name, record.namespace), name):
            problems[name] = problem
    if len(problems) > 1:
        return f"prerequisites not satisfied: {', '.join(problems)}"
    return next(iter(problems.values()), "")


def _key(spec: Object) -> str:
    """Return a key of the fields from which upstream derives the workspace."""
    names = ("stack", "backend", "secretsProvider", "projectRepo", "repoDir", "commit", "gitAuth", "serviceAccountName")
    values = [spec.get(name) for name in (*names, "workspaceTemplate")]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
