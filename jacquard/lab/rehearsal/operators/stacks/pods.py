"""Pod of a workspace: the objects without which it would not start, and its environment variables.

Sources: pulumi/pulumi-kubernetes-operator v2, ``operator/internal/controller/auto/workspace_controller.go`` (the
StatefulSet) and ``agent/pkg/server/auth.go`` (reviews by which the agent authenticates the operator).
"""

from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.container_references import Reference, environment_references
from jacquard.lab.rehearsal.operators.stacks.record import Record
from jacquard.lab.rehearsal.operators.stacks.sources import refuse
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

_CONTAINER = "pulumi"
_REVIEWS = (("authentication.k8s.io", "tokenreviews"), ("authorization.k8s.io", "subjectaccessreviews"))
"""Kinds that the agent creates with the ServiceAccount of the workspace; `system:auth-delegator` has both rights."""


def account_of(spec: Object) -> str:
    """Return the name of the ServiceAccount of a Stack's workspace."""
    templated = dig(spec, "workspaceTemplate", "spec", "serviceAccountName")
    return str(templated or spec.get("serviceAccountName") or "default")


def missing(view: View, record: Record) -> str:
    """Return the reason why the pod of a workspace does not start or respond; empty if it does.

    Raises:
        Stalled: The image has no digest.
    """
    spec, namespace = record.spec, record.namespace
    image = dig(spec, "workspaceTemplate", "spec", "image") or ""
    if "@sha256:" not in image:
        refuse(f"spec.workspaceTemplate.spec.image: '{image}' has no digest; append @sha256:DIGEST")
    account = account_of(spec)
    if view.find("v1", "ServiceAccount", account, namespace) is None:
        return f"ServiceAccount '{namespace}/{account}' not found"
    for reference in (*environment_references(list(_containers(spec))), *_of_volumes(spec)):
        if problem := reference.problem(view, namespace):
            return problem
    for group, resource in _REVIEWS:
        if not view.allows(namespace, account, "create", group, resource):
            subject = f"ServiceAccount '{namespace}/{account}'"
            return f"{subject} cannot create {resource}; bind it to ClusterRole system:auth-delegator"
    return ""


def variables(view: View, record: Record) -> tuple[dict[str, str], set[str]]:
    """Return the variables of the workspace, without fields of the pod, and the values that come from Secrets."""
    values: dict[str, str] = {}
    secrets: set[str] = set()
    containers = list(_containers(record.spec))
    for reference in environment_references(containers):
        found = reference.variables(view, record.namespace)
        values |= found
        secrets.update(found.values() if reference.kind == "Secret" else ())
    for container in containers:
        values |= {entry["name"]: entry["value"] for entry in container.get("env") or () if "value" in entry}
    return values, secrets - {""}


def _containers(spec: Object) -> Iterator[Object]:
    """Yield the parts of a workspace template that set variables of the container."""
    template = dig(spec, "workspaceTemplate", "spec") or {}
    yield template
    containers = dig(template, "podTemplate", "spec", "containers") or ()
    yield from (container for container in containers if container["name"] == _CONTAINER)


def _of_volumes(spec: Object) -> Iterator[Reference]:
    for volume in dig(spec, "workspaceTemplate", "spec", "podTemplate", "spec", "volumes") or ():
        for field, kind, name in (("secret", "Secret", "secretName"), ("configMap", "ConfigMap", "name")):
            if source := volume.get(field):
                target = {"name": source[name], "optional": source.get("optional")}
                yield Reference(kind, target)
                yield from (Reference(kind, {**target, "key": item["key"]}) for item in source.get("items") or ())
