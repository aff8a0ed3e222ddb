"""Slices that the Pulumi Kubernetes Operator applies: their commits, and their runs in the management cluster."""

import time
from collections.abc import Collection, Mapping, Sequence

from components.lookups.slices import SliceKind
from components.render.manifest import MANAGEMENT
from components.render.region.engine.engine import API, KIND
from components.render.region.engine.operator import CHART, NAMESPACE
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import abbreviated
from components.specs.region.state import StackLayout
from jacquard.cli.console import plural
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.progress import Screen
from jacquard.engine.driver import Engine
from jacquard.engine.recorded import recorded_commits
from jacquard.engine.shutdown import asked
from jacquard.observe.observation import connect
from jacquard.observe.slice_runs import REQUEST, WORKSPACE, WORKSPACE_API, SliceRun, slice_run, workspace_failed
from jacquard.previews.base_commits import BaseError
from jacquard.previews.reviewed_commit import reviewed_commit
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiServer, KindNotFound, ObjectRef
from stacks.target import engine_stack, operator_stacks

_POLL_SECONDS = 1.0
_SILENT_SECONDS = 300.0
"""Time after which an operator that has not seen a Stack is reported. It starts within two minutes."""


class Operator:
    """The operator of a region, for the stacks that ``up`` applies."""

    def __init__(self, environment: Environment, stacks: Sequence[str]) -> None:
        self._environment = environment
        self._all = operator_stacks(environment)
        self.stacks = frozenset(stacks) & self._all
        """Stacks of this run that the operator applies."""
        self.engine_stack = engine_stack(environment)
        """Stack with the Stacks of the operator."""
        self.commit = _commit(environment) if self._all else ""
        self._submitted: frozenset[str] = frozenset()
        self._again: frozenset[str] = frozenset()
        """Submitted stacks that the operator has applied at this commit before, and runs again only on request."""

    @property
    def at_once(self) -> int:
        """Return the number of stacks that can be followed at the same time, because this machine only waits."""
        return len(self._submitted)

    def with_engine(self, stacks: Sequence[str]) -> Sequence[str]:
        """Return ``stacks`` with the stack of the engine, without which the operator applies none of its stacks."""
        if not self.stacks or self.engine_stack is None or self.engine_stack in stacks:
            return stacks
        return (*stacks, self.engine_stack)

    def submit(
        self, changed: Collection[str], unplanned: Collection[str], recorded: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Return the commits of slices with another commit than before, by name.

        These are slices with changes, and slices that were applied without the operator before.

        Args:
            changed: stacks with changes.
            unplanned: stacks whose changes are not known.
            recorded: last commit of each slice, by name.
        """
        self._submitted = self.stacks & frozenset(changed)
        self._again = frozenset(one for one in self._submitted if recorded.get(one.partition(".")[2]) == self.commit)
        new = {one for one in self._all - frozenset(unplanned) if one.partition(".")[2] not in recorded}
        return {stack.partition(".")[2]: self.commit for stack in self._submitted | new}

    def is_submitted(self, stack: str) -> bool:
        """Return whether the operator applies ``stack`` in this run."""
        return stack in self._submitted

    def follow(self, stack: str, screen: Screen) -> float:
        """Wait until the operator has applied ``stack``; return the seconds.

        Raises:
            EngineStopped: after Ctrl-C; the operator continues.
            Stop: the operator could not apply the stack, or does not answer.
        """
        name = stack.partition(".")[2]
        api, ref = connect(self._environment, MANAGEMENT), ObjectRef(API, KIND, name, NAMESPACE)
        _request_again(api, ref, self.commit, also_done=stack in self._again)
        advice = f"'kubectl -n {NAMESPACE} describe pod {name}-workspace-0' may show the cause"
        with screen.phase(name, advice) as shown:
            while not (run := _read(api, ref, self.commit)).done:
                asked.pass_by(f"waiting for the operator to apply {stack}")
                if run.failed:
                    raise Stop(self._failure(stack, run))
                if not run.observed and shown.duration_seconds > _SILENT_SECONDS:
                    raise Stop(_silent(stack), ExitCode.WAITING)
                shown.awaited(name, run.waits)
                time.sleep(_POLL_SECONDS)
            return shown.duration_seconds

    def _failure(self, stack: str, run: SliceRun) -> str:
        name, environment = stack.partition(".")[2], self._environment.name
        return (
            f"the operator could not apply {stack} at {abbreviated(self.commit)}: {run.failed}\n"
            f"  the pod of the failed run: kubectl -n {NAMESPACE} logs {name}-workspace-0; 'jacquard up {environment}'"
            " continues from there"
        )


def require_no_stacks(environment: Environment, engine: Engine) -> None:
    """Pass unless the data have no operator any more, but its Stacks still exist.

    Each Stack has a finalizer, and it and its namespace are never deleted after the operator
    (PKO:operator/internal/controller/pulumi/stack_controller.go, PulumiFinalizer).

    Raises:
        Stop: with the steps that delete the Stacks first.
    """
    region, name = environment.region, environment.name
    if region.engine or region.stacks is StackLayout.WHOLE:
        return
    stack = f"{name}.{SliceKind.ENGINE}"
    if existing := len(recorded_commits(engine.look(stack).resources)):
        found = plural(existing, "Stack")
        msg = (
            f"{name}: nothing was changed: environments/{name}/{REGION} has no 'engine', but its operator has {found}\n"
            "  only the operator removes their finalizer, so delete them before it; add 'engine' again, or run:\n"
            f'  eval "$(jacquard env {name})"\n'
            f"  pulumi state unprotect --all --yes --stack {stack}\n"
            f"  pulumi destroy --stack {stack}\n"
            f"  pulumi stack rm --yes {stack}"
        )
        raise Stop(msg, ExitCode.REFUSED)


def _commit(environment: Environment) -> str:
    try:
        return reviewed_commit()
    except BaseError as error:
        msg = f"{environment.name}: nothing was applied: {error}"
        raise Stop(msg, ExitCode.REFUSED) from None


def _read(api: ApiServer, ref: ObjectRef, commit: str) -> SliceRun:
    try:
        return slice_run(api.get(ref), commit)
    except KindNotFound:
        return SliceRun(waits="the operator", observed=False)
    except ProviderError as error:
        return SliceRun(waits=f"the management cluster: {error}")


def _request_again(api: ApiServer, ref: ObjectRef, commit: str, *, also_done: bool) -> None:
    """Request another run of the same commit if the last one failed; with ``also_done``, also if it succeeded.

    The operator never retries a failed Workspace by itself, and reports it for the next commit too until that one is
    initialized. The Stack creates a deleted Workspace again.
    """
    try:
        stack = api.get(ref)
    except ProviderError:
        return
    run = slice_run(stack, commit)
    if workspace_failed(stack):
        show(f"{ref.name}: its Workspace failed and is deleted, so that the operator tries again", "note")
        api.delete(ObjectRef(WORKSPACE_API, WORKSPACE, ref.name, NAMESPACE))
    elif run.failed:
        show(f"{ref.name}: the operator has given up an earlier run of this commit, and tries again", "note")
    elif not (run.done and also_done):
        return
    request = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    api.patch(ref, {"metadata": {"annotations": {REQUEST: request}}}, field_manager="jacquard")


def _silent(stack: str) -> str:
    return (
        f"{stack}: the operator has not seen its Stack for five minutes; check its pod:"
        f" kubectl -n {NAMESPACE} get deployment {CHART}-controller-manager"
    )
