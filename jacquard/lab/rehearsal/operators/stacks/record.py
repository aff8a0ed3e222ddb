"""Status of a Stack: conditions, results of updates, and the decision whether another update is required.

Source: pulumi/pulumi-kubernetes-operator v2, ``operator/internal/controller/pulumi/stack_controller.go`` and
``operator/api/pulumi/v1/stack_types.go``.
"""

import copy
import datetime as dt
from typing import Any

from jacquard.lab.rehearsal.operators.view import Object, View, now
from jacquard.providers.kube.objects import dig

REQUEST = "pulumi.com/reconciliation-request"
"""Annotation of a Stack; a changed value requests another update."""
SUCCEEDED, FAILED = "succeeded", "failed"
PROCESSING, RETRYING, UNSATISFIED = "StackProcessing", "RetryingAfterFailure", "PrerequisiteNotSatisfied"
"""Reasons of the condition Reconciling."""
SPEC_INVALID, WORKSPACE_FAILED, UPDATE_FAILED = "SpecInvalid", "WorkspaceFailed", "UpdateFailed"
"""Reasons of the condition Stalled."""
_MAX_FAILURES = 3
"""Number of failures after which an update is not repeated. The first failure of a generation is not counted."""
_COOLDOWN_SECONDS, _FACTOR, _MAX_COOLDOWN_SECONDS = 10, 3, 86400
_RESYNC_SECONDS = 60


class Stalled(Exception):  # noqa: N818 - a result, not an error of this program
    """The Stack is not processed until its spec or source changes."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Record:
    """The status of a Stack in one round, which is written at most once."""

    def __init__(self, stack: Object) -> None:
        self.stack = stack
        self.spec: Object = stack.get("spec") or {}
        self.name, self.namespace = stack["metadata"]["name"], stack["metadata"]["namespace"]
        self.status: dict[str, Any] = copy.deepcopy(stack.get("status") or {})
        self.status |= {"observedGeneration": self._generation, "observedReconcileRequest": request_of(stack)}

    @property
    def last(self) -> Object:
        """Return the result of the last update; empty before the first."""
        return self.status.get("lastUpdate") or {}

    def save(self, view: View) -> bool:
        """Write the status if it has changed; return whether the written status is current."""
        before = self.stack.get("status") or {}
        if before == self.status:
            return True
        return view.patch(self.stack, {"status": _difference(before, self.status)}, "status")

    def reconciling(self, reason: str, message: str) -> None:
        """Report that the Stack is being processed."""
        ready = ("Ready", "False", "NotReadyInProgress", "the stack is being reconciled")
        self._set(ready, ("Reconciling", "True", reason, message))

    def stalled(self, reason: str, message: str) -> None:
        """Report that the Stack is not processed until it changes."""
        ready = ("Ready", "False", "NotReadyStalled", "the stack is stalled")
        self._set(ready, ("Stalled", "True", reason, message))

    def ready(self) -> None:
        """Report that the Stack is up to date."""
        self._set(("Ready", "True", "ProcessingCompleted", "the stack is up to date"))

    def begin(self, name: str, commit: str) -> None:
        """Record a started update."""
        current = {"generation": self._generation, "name": name, "commit": commit}
        self.status["currentUpdate"] = {**current, **_requested(request_of(self.stack))}

    def end(self, *, failure: str | None) -> None:
        """Record the result of the current update; ``failure`` is its message, or None if it succeeded."""
        current, last = self.status.pop("currentUpdate"), self.last
        update = {
            "generation": current["generation"],
            **_requested(current.get("reconcileRequest", "")),
            "name": current["name"],
            "type": "up",
            "state": SUCCEEDED if failure is None else FAILED,
            "lastAttemptedCommit": current["commit"],
            "lastResyncTime": now(),
        }
        if failure is None:
            self.status["lastUpdate"] = {**update, "lastSuccessfulCommit": current["commit"]}
            return
        successful = last.get("lastSuccessfulCommit")
        update |= {"message": failure, **({"lastSuccessfulCommit": successful} if successful else {})}
        # The first failure of a generation or request is not counted.
        if last and _inputs(last) == _inputs(current):
            update["failures"] = last.get("failures", 0) + 1
        self.status["lastUpdate"] = update

    def is_synced(self, commit: str, speed: float) -> bool:
        """Return whether no update is required now; waits are divided by ``speed``."""
        last = self.last
        if not last or _inputs(last) != (self._generation, request_of(self.stack)):
            return False
        if last["state"] == SUCCEEDED:
            if last.get("lastSuccessfulCommit") != commit:
                return False
            return not self.spec.get("continueResyncOnCommitMatch") or _elapsed(last) < self._resync() / speed
        if last.get("lastAttemptedCommit") != commit:
            return False
        return last.get("failures", 0) >= _MAX_FAILURES or _elapsed(last) < self._cooldown() / speed

    def report_result(self) -> None:
        """Report the result of the last update in the conditions."""
        failures = self.last.get("failures", 0)
        if self.last["state"] == SUCCEEDED:
            self.ready()
        elif failures >= _MAX_FAILURES:
            message = f"{self.last['type']} failed {failures} times; no retry until the spec or the source changes"
            self.stalled(UPDATE_FAILED, message)
        else:
            self.reconciling(RETRYING, f"{failures} failure(s) of the update")

    @property
    def _generation(self) -> int:
        return int(self.stack["metadata"]["generation"])

    def _cooldown(self) -> float:
        limit = self.spec.get("retryMaxBackoffDurationSeconds") or _MAX_COOLDOWN_SECONDS
        return float(min(_COOLDOWN_SECONDS * _FACTOR ** self.last.get("failures", 0), limit))

    def _resync(self) -> float:
        return float(max(self.spec.get("resyncFrequencySeconds") or 0, _RESYNC_SECONDS))

    def _set(self, *wanted: tuple[str, str, str, str]) -> None:
        """Set these conditions, each (type, status, reason, message), and remove all others."""
        before = {condition["type"]: condition for condition in self.status.get("conditions") or ()}
        after = []
        for name, status, reason, message in wanted:
            old = before.get(name, {})
            moment = old["lastTransitionTime"] if old.get("status") == status else now()
            new = {"type": name, "status": status, "reason": reason, "message": message}
            after.append({**new, "lastTransitionTime": moment})
        self.status["conditions"] = after


def request_of(stack: Object) -> str:
    """Return the request of the annotation of a Stack, or an empty string."""
    return str((stack["metadata"].get("annotations") or {}).get(REQUEST, ""))


def unmet(stack: Object | None, name: str) -> str:
    """Return the reason why the prerequisite ``name`` is not satisfied; empty if it is."""
    if stack is None:
        return f"prerequisite '{name}': Stack not found"
    last = dig(stack, "status", "lastUpdate")
    if not last or _inputs(last) != (stack["metadata"]["generation"], request_of(stack)):
        return f"prerequisite '{name}': no completed update of its current spec"
    return "" if last["state"] == SUCCEEDED else f"prerequisite '{name}': the last update failed"


def _inputs(update: Object) -> tuple[int, str]:
    return update["generation"], update.get("reconcileRequest", "")


def _requested(request: str) -> Object:
    return {"reconcileRequest": request} if request else {}


def _elapsed(update: Object) -> float:
    """Return the number of seconds since the end of an update."""
    ended = dt.datetime.fromisoformat(update["lastResyncTime"])
    return (dt.datetime.now(dt.UTC) - ended).total_seconds()


def _difference(before: Object, after: Object) -> Object:
    """Return the merge patch that changes ``before`` to ``after``."""
    patch: Object = dict.fromkeys(before.keys() - after.keys())
    for key, value in after.items():
        old = before.get(key)
        if old != value:
            patch[key] = _difference(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return patch
