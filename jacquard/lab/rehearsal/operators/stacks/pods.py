"""Pod of a workspace: the objects without which it would not start, and its environment variables.

Sources: pulumi/pulumi-kubernetes-operator v2, ``operator/internal/controller/auto/workspace_controller.go`` (the
StatefulSet) and ``agent/pkg/server/auth.go`` (reviews by which the agent authenticates the operator).
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass

from jacquard.lab.rehearsal.operators.stacks.record import Record
from jacquard.lab.rehearsal.operators.stacks.sources import refuse
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

_CONTAINER = "pulumi"
_REVIEWS = (("authentication.k8s.io", "tokenreviews"), ("authorization.k8s.io", "subjectaccessreviews"))
"""Kinds that the agent creates with the ServiceAccount of the workspace; `system:auth-delegator` has both rights."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference of a pod to a Secret or ConfigMap, or to one of its keys."""

    kind: str
    target: Object
    """Name and key of the object, and whether it is optional."""
    variable: str = ""
    """Name of the variable of a key, or the prefix of the variables of all keys."""

    def data(self, view: View, namespace: str) -> dict[str, str] | None:
        """Return the referenced keys with decoded values; None if the object does not exist."""
        found = view.find("v1", self.kind, self.target["name"], namespace)
        if found is None:
            return None
        key, data = self.target.get("key"), found.get("data") or {}
        if self.kind == "Secret":
            data = {name: base64.b64decode(value).decode(errors="replace") for name, value in data.items()}
        return {name: value for name, value in data.items() if key in (None, name)}

    def problem(self, view: View, namespace: str) -> str:
        """Return the reason why a pod with this reference does not start; empty if it does."""
        key, data = self.target.get("key"), self.data(view, namespace)
        name = f"{self.kind} '{namespace}/{self.target['name']}'"
        if self.target.get("optional") or data or (data is not None and key is None):
            return ""
        return f"{name} not found" if data is None else f"{name} has no key '{key}'"


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
    for reference in (*_of_variables(spec), *_of_volumes(spec)):
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
    for reference in _of_variables(record.spec):
        data = reference.data(view, record.namespace) or {}
        is_one = "key" in reference.target
        values |= {reference.variable if is_one else f"{reference.variable}{key}": data[key] for key in data}
        secrets.update(data.values() if reference.kind == "Secret" else ())
    for container in _containers(record.spec):
        values |= {entry["name"]: entry["value"] for entry in container.get("env") or () if "value" in entry}
    return values, secrets - {""}


def _containers(spec: Object) -> Iterator[Object]:
    """Yield the parts of a workspace template that set variables of the container."""
    template = dig(spec, "workspaceTemplate", "spec") or {}
    yield template
    containers = dig(template, "podTemplate", "spec", "containers") or ()
    yield from (container for container in containers if container["name"] == _CONTAINER)


def _of_variables(spec: Object) -> Iterator[Reference]:
    """Yield the references of variables; later ones have precedence."""
    containers = list(_containers(spec))
    for entry in (entry for container in containers for entry in container.get("envFrom") or ()):
        for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
            if field in entry:
                yield Reference(kind, entry[field], entry.get("prefix", ""))
    for entry in (entry for container in containers for entry in container.get("env") or ()):
        for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            if target := dig(entry, "valueFrom", field):
                yield Reference(kind, target, entry["name"])


def _of_volumes(spec: Object) -> Iterator[Reference]:
    for volume in dig(spec, "workspaceTemplate", "spec", "podTemplate", "spec", "volumes") or ():
        for field, kind, name in (("secret", "Secret", "secretName"), ("configMap", "ConfigMap", "name")):
            if source := volume.get(field):
                target = {"name": source[name], "optional": source.get("optional")}
                yield Reference(kind, target)
                yield from (Reference(kind, {**target, "key": item["key"]}) for item in source.get("items") or ())
