"""Rules of the webhooks of KubeVirt and CDI, as admission policies of the API server, because webhooks do not run."""

from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.providers.kube import ApiServer

FILE = Path(__file__).with_name("webhooks.yaml")
_API = "admissionregistration.k8s.io/v1"
_FIELD_MANAGER = "rehearsal"


def install(api: ApiServer, cluster: str) -> None:
    """Install the policies in the cluster of a tenant; the management cluster has no VMs."""
    for body in () if cluster == MANAGEMENT else policies():
        api.apply(body, field_manager=_FIELD_MANAGER, force=True)


def policies() -> list[dict[str, Any]]:
    """Return the policies and their bindings."""
    objects: list[dict[str, Any]] = []
    for entry in yaml.safe_load(FILE.read_text(encoding="utf-8")):
        plural, _, group = entry["of"].partition(".")
        matched = {"apiGroups": [group], "apiVersions": ["*"], "resources": [plural], "operations": entry["when"]}
        spec = {"matchConstraints": {"resourceRules": [matched]}, "validations": entry["rules"]}
        binding = {"policyName": entry["name"], "validationActions": ["Deny"]}
        for kind, content in (("ValidatingAdmissionPolicy", spec), ("ValidatingAdmissionPolicyBinding", binding)):
            objects.append({"apiVersion": _API, "kind": kind, "metadata": {"name": entry["name"]}, "spec": content})
    return objects
