"""What webhooks of KubeVirt and CDI refuse, as rules that the API server keeps itself, since no webhook runs here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.providers.kube import ApiServer

FILE = Path(__file__).with_name("webhooks.yaml")
_API = "admissionregistration.k8s.io/v1"
_FIELD_MANAGER = "rehearsal"


def install(api: ApiServer, cluster: str) -> None:
    """Have the API server of a tenant's cluster refuse what the webhooks refuse; the management cluster has no VMs."""
    for body in () if cluster == MANAGEMENT else policies():
        api.apply(body, field_manager=_FIELD_MANAGER, force=True)


def policies() -> list[dict[str, Any]]:
    """Return each set of rules with what puts it in force."""
    found: list[dict[str, Any]] = []
    for entry in yaml.safe_load(FILE.read_text(encoding="utf-8")):
        plural, _, group = entry["of"].partition(".")
        judged = {"apiGroups": [group], "apiVersions": ["*"], "resources": [plural], "operations": entry["when"]}
        spec = {"matchConstraints": {"resourceRules": [judged]}, "validations": entry["rules"]}
        bound = {"policyName": entry["name"], "validationActions": ["Deny"]}
        for kind, content in (("ValidatingAdmissionPolicy", spec), ("ValidatingAdmissionPolicyBinding", bound)):
            found.append({"apiVersion": _API, "kind": kind, "metadata": {"name": entry["name"]}, "spec": content})
    return found
