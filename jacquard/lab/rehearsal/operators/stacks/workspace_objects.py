"""Workspace objects of Stacks: a failed one is tried again only after its deletion or a change of its spec.

Source: pulumi/pulumi-kubernetes-operator v2, ``operator/internal/controller/auto/workspace_controller.go`` (a failed
initialization sets Stalled, and only another generation or a ready StatefulSet starts the next reconciliation) and
``operator/internal/controller/pulumi/stack_controller.go`` (a Stack reports Stalled of its Workspace, which can be
about an earlier spec). The spec lacks the template of the pod.
"""

from jacquard.lab.rehearsal.operators.stacks.pods import account_of
from jacquard.lab.rehearsal.operators.stacks.record import WORKSPACE_FAILED, Record, Stalled
from jacquard.lab.rehearsal.operators.view import Object, View, now, owned_by
from jacquard.providers.kube.objects import dig

WORKSPACE = ("auto.pulumi.com/v1alpha1", "Workspace")
INITIALIZING, READY = "Initializing", "Succeeded"
"""Reasons of the condition Ready."""
_FAILED = "InitializationFailed"


def find(view: View, record: Record) -> Object | None:
    """Return the Workspace of a Stack, or None."""
    return view.find(*WORKSPACE, record.name, record.namespace)


def apply(view: View, record: Record) -> None:
    """Create the Workspace of a Stack, or change its spec."""
    spec, (api_version, kind) = record.spec, WORKSPACE
    provider = spec.get("secretsProvider")
    stack = {"name": spec["stack"], "create": True, **({"secretsProvider": provider} if provider else {})}
    folder = {"dir": spec["repoDir"]} if spec.get("repoDir") else {}
    body = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": record.name, "namespace": record.namespace, "ownerReferences": owned_by(record.stack)},
        "spec": {
            "serviceAccountName": account_of(spec),
            "git": {"url": spec["projectRepo"], "ref": spec["commit"], **folder},
            "stacks": [stack],
        },
    }
    view.apply(body)


def check(workspace: Object | None) -> None:
    """Raise the failure that the Workspace reports.

    Raises:
        Stalled: The Workspace has failed, maybe with an earlier spec.
    """
    for condition in dig(workspace, "status", "conditions") or ():
        if condition["type"] == "Stalled":
            raise Stalled(WORKSPACE_FAILED, f"{condition['reason']}: {condition['message']}")


def report(view: View, workspace: Object, reason: str) -> None:
    """Report that the Workspace is ready or being initialized, and no earlier failure."""
    _save(view, workspace, _condition("Ready", str(reason == READY), reason, ""))


def fail(view: View, workspace: Object, message: str) -> None:
    """Report that the initialization failed; it is not repeated."""
    ready = _condition("Ready", "False", _FAILED, message)
    _save(view, workspace, ready, _condition("Stalled", "True", _FAILED, message))


def delete(view: View, workspace: Object | None) -> None:
    """Delete the Workspace if it exists."""
    if workspace is not None:
        view.delete(workspace)


def _condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _save(view: View, workspace: Object, *conditions: Object) -> None:
    before = [dict(condition) for condition in dig(workspace, "status", "conditions") or ()]
    for condition in before:
        del condition["lastTransitionTime"]
    if before == list(conditions):
        return
    moment = now()
    listed = [{**condition, "lastTransitionTime": moment} for condition in conditions]
    view.status(workspace, {"observedGeneration": workspace["metadata"]["generation"], "conditions": listed})
