"""References of containers to Secrets and ConfigMaps, resolved as by a kubelet (K8S:pkg/kubelet/kubelet_pods.go)."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig


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

    def variables(self, view: View, namespace: str) -> dict[str, str]:
        """Return the variables from this reference, by name; empty if the object or the key does not exist."""
        data = self.data(view, namespace) or {}
        return {self.variable if "key" in self.target else f"{self.variable}{key}": data[key] for key in data}

    def problem(self, view: View, namespace: str) -> str:
        """Return the reason why a pod with this reference does not start; empty if it does."""
        key, data = self.target.get("key"), self.data(view, namespace)
        name = f"{self.kind} '{namespace}/{self.target['name']}'"
        if self.target.get("optional") or data or (data is not None and key is None):
            return ""
        return f"{name} not found" if data is None else f"{name} has no key '{key}'"


def environment_references(containers: Sequence[Object]) -> Iterator[Reference]:
    """Yield the references of the variables of ``containers``; later ones have precedence."""
    for entry in (entry for container in containers for entry in container.get("envFrom") or ()):
        for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
            if field in entry:
                yield Reference(kind, entry[field], entry.get("prefix", ""))
    for entry in (entry for container in containers for entry in container.get("env") or ()):
        for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            if target := dig(entry, "valueFrom", field):
                yield Reference(kind, target, entry["name"])
