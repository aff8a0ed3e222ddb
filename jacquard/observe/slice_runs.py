"""State of slices that the Pulumi Kubernetes Operator applies, from their Stacks."""

from components.render.region.engine.engine import KIND
from components.specs.natural import natural
from components.specs.struct import Struct
from jacquard.observe.objects import Object, condition, holds
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

REQUEST = "pulumi.com/reconciliation-request"
"""Annotation of a Stack whose new value makes the operator run the slice again
(PKO:operator/api/pulumi/shared/stack_types.go)."""

WORKSPACE_API, WORKSPACE = "auto.pulumi.com/v1alpha1", "Workspace"
"""Kind of the pod of a slice. It has the name of its Stack."""
_WORKSPACE_FAILED = "WorkspaceFailed"


class SliceRun(Struct):
    """State of a slice at a commit."""

    done: bool = False
    """Whether the last run of the commit succeeded."""
    failed: str = ""
    """Reason why the operator does not apply the slice and does not try again; empty otherwise."""
    waits: str = ""
    """What the slice waits for, if it is neither done nor failed."""
    observed: bool = True
    """Whether the operator has seen the current Stack."""


class SliceStatus(Struct):
    """A slice that the operator applies; the field names are the keys of the JSON."""

    name: str
    commit: str
    """Commit that the operator is to apply."""
    applied_commit: str | None
    """Commit of the last successful run; None before the first one."""
    why: str | None
    """Reason why the slice is not applied at its commit; None if it is."""


def slices(seen: Observation) -> list[SliceStatus]:
    """Return the slices of the operator by name; empty if the region has no operator."""
    return sorted(map(_status, seen.of(KIND)), key=lambda status: natural(status.name))


def slice_run(stack: Object | None, commit: str) -> SliceRun:
    """Return the state of a slice at ``commit``; ``stack`` is None if there is no Stack."""
    if stack is None or dig(stack, "spec", "commit") != commit:
        return SliceRun(waits="its Stack", observed=False)
    status, generation = stack.get("status") or {}, stack["metadata"].get("generation")
    request = (stack["metadata"].get("annotations") or {}).get(REQUEST, "")
    if (status.get("observedGeneration"), status.get("observedReconcileRequest", "")) != (generation, request):
        return SliceRun(waits="the operator", observed=False)
    last = status.get("lastUpdate") or {}
    if (last.get("generation"), last.get("reconcileRequest", "")) != (generation, request):
        last = {}
    if last.get("state") == "succeeded":
        return SliceRun(done=True)
    failure = str(last.get("message") or "")
    if holds(stack, "Stalled"):
        stalled = condition(stack, "Stalled")
        return SliceRun(failed=failure or f"{stalled['reason']}: {stalled['message']}")
    progress = condition(stack, "Reconciling").get("message") or "the operator"
    return SliceRun(waits=f"{progress} ({failure})" if failure else progress)


def workspace_failed(stack: Object | None) -> bool:
    """Return whether a Stack reports that its Workspace could not be initialized, with the current or an earlier spec.

    The operator does not initialize such a Workspace again (PKO:operator/internal/controller/auto/
    workspace_controller.go, Reconcile and SetupWithManager).
    """
    return stack is not None and holds(stack, "Stalled") and condition(stack, "Stalled")["reason"] == _WORKSPACE_FAILED


def _status(stack: Object) -> SliceStatus:
    commit = str(dig(stack, "spec", "commit"))
    run = slice_run(stack, commit)
    return SliceStatus(
        name=stack["metadata"]["name"],
        commit=commit,
        applied_commit=dig(stack, "status", "lastUpdate", "lastSuccessfulCommit"),
        why=None if run.done else f"failed: {run.failed}" if run.failed else f"waits: {run.waits}",
    )
