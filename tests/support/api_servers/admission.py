"""Admission policies at a real API server, and the objects of the fixtures of policies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from components.inputs import admission
from components.lookups.admission import admission_rules
from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from components.render.region.admission import AdmissionInput, PolicyAdmission
from components.render.region.admission_rule import AdmissionRule
from components.specs.region.admission import AdmissionSpec
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from jacquard.machine import paths
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.machine.scaled_timeout import ScaledTimeout

FIXTURES = {path.stem: path for path in (paths.ROOT / "tests" / "policies" / "fixtures").rglob("*.yaml")}
REGISTRIES = ("registry.cloud.example", "ghcr.io/nvidia")
RULES = {rule.policy: rule for rule in admission_rules()}
CASES = {
    name: [
        case
        for case in yaml.load(FIXTURES[name].read_bytes(), Loader=yaml.CSafeLoader)
        if case["verdict"] != "undecided"
    ]
    for name in RULES
}
CUSTOM = {
    "VirtualMachine": ("kubevirt.io/v1", "virtualmachines"),
    "VirtualMachinePool": ("pool.kubevirt.io/v1beta1", "virtualmachinepools"),
    "DataVolume": ("cdi.kubevirt.io/v1beta1", "datavolumes"),
    "BareMetalHost": ("metal3.io/v1alpha1", "baremetalhosts"),
    "BMC": ("metal.ironcore.dev/v1alpha1", "bmcs"),
    "OCIRepository": ("source.toolkit.fluxcd.io/v1", "ocirepositories"),
    "HelmRepository": ("source.toolkit.fluxcd.io/v1", "helmrepositories"),
}
BUILT_IN = {
    "Namespace": "v1",
    "Pod": "v1",
    "ConfigMap": "v1",
    "Service": "v1",
    "ReplicationController": "v1",
    **dict.fromkeys(("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"), "rbac.authorization.k8s.io/v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
    **dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"), "apps/v1"),
}
WAIT_SECONDS = 30
STANDARD = "pod-security.kubernetes.io/enforce"
"""Label for which the API server itself rejects unknown values."""


def definition(kind: str) -> dict[str, Any]:
    """Return the definition of a custom kind without a schema."""
    api_version, plural = CUSTOM[kind]
    group, _, version = api_version.partition("/")
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "https://example.org"},
        },
        "spec": {
            "group": group,
            "scope": "Cluster" if kind == "BMC" else "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}],
        },
    }


def inputs_for(cluster: str, rule: AdmissionRule) -> AdmissionInput:
    """Return the input of one policy for ``cluster``; the rule is rendered for each kind of cluster."""
    laptop = reference("laptop")
    policy = laptop.policy.model_copy(update={"registries": REGISTRIES})
    region = laptop.region.model_copy(update={"admission": AdmissionSpec()})
    environment = laptop.model_copy(update={"policy": policy, "region": region})
    if cluster == MANAGEMENT:
        [found] = admission.of_region(environment, region)
    else:
        [placed] = [item for item in clusters(environment) if item.cluster.name == cluster]
        [found] = admission.of_cluster(environment, placed)
    return replace(found, policies=(PolicyAdmission(rule=rule, level=Enforcement.MANDATORY),))


def complete(body: dict[str, Any]) -> dict[str, Any]:
    """Return ``body`` with the fields that its kind requires."""
    kind, metadata = body["kind"], dict(body["metadata"])
    api_version = body.get("apiVersion") or BUILT_IN.get(kind) or CUSTOM[kind][0]
    whole = {**body, "apiVersion": api_version, "metadata": metadata}
    labels = {"app": "x"}
    match kind:
        case "Pod":
            whole["spec"] = _pod(body["spec"])
        case "CronJob":
            inner = body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
            job = {"template": {"spec": {**_pod(inner), "restartPolicy": "Never"}}}
            whole["spec"] = {"schedule": "0 * * * *", "jobTemplate": {"spec": job}}
        case "Job":
            pod = {**_pod(body["spec"]["template"]["spec"]), "restartPolicy": "Never"}
            whole["spec"] = {"template": {"spec": pod}}
        case "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet":
            pod = _pod(body["spec"]["template"]["spec"])
            template = {"metadata": {"labels": labels}, "spec": pod}
            whole["spec"] = {"selector": {"matchLabels": labels}, "template": template}
        case "ReplicationController":
            template = {"metadata": {"labels": labels}, "spec": _pod(body["spec"]["template"]["spec"])}
            whole["spec"] = {"selector": labels, "template": template}
        case "RoleBinding" | "ClusterRoleBinding":
            role = body.get("roleRef") or {"kind": "ClusterRole", "name": "view"}
            whole["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", **role}
            whole["subjects"] = [_subject(item) for item in body.get("subjects") or ()]
    return whole


def _pod(spec: dict[str, Any]) -> dict[str, Any]:
    named = {
        key: [{"name": f"{key.lower()}-{index}", **item} for index, item in enumerate(spec.get(key) or ())]
        for key in ("containers", "initContainers")
    }
    return {**spec, "containers": named["containers"] or [{"name": "x", "image": f"{REGISTRIES[0]}/x"}]} | (
        {"initContainers": named["initContainers"]} if named["initContainers"] else {}
    )


def _subject(item: dict[str, Any]) -> dict[str, Any]:
    return item if item["kind"] == "ServiceAccount" else {"apiGroup": "rbac.authorization.k8s.io", **item}


def denial(server: LocalApiServer, body: dict[str, Any]) -> str:
    """Return the text of the rejection by a policy or by the validation of the kind; empty if accepted."""
    try:
        server.api.apply(body, field_manager="test", dry_run=True)
    except ApiError as error:
        if "ValidatingAdmissionPolicy" in str(error) or STANDARD in str(error):
            return str(error)
        raise
    return ""


@contextmanager
def enforced(server: LocalApiServer, given: AdmissionInput) -> Iterator[None]:
    """Apply the policy for the block."""
    try:
        _enforce(server, given)
        yield
    finally:
        for item in reversed(given.render()):
            server.api.delete(ObjectRef.of(item.body))


def _enforce(server: LocalApiServer, given: AdmissionInput) -> None:
    """Apply the policy, and wait until it is in force: the API server then rejects each ConfigMap with a token."""
    policy, binding = given.render()
    token, spec = f"token-{given.cluster}", dict(policy.body["spec"])
    [validation] = spec["validations"]
    expression = f"request.kind.kind == 'ConfigMap' || ({validation['expression']})"
    tokens = {"expression": "request.kind.kind != 'ConfigMap'", "message": token}
    config_maps = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec["validations"] = [{**validation, "expression": expression}, tokens]
    spec["matchConstraints"] = {"resourceRules": [*spec["matchConstraints"]["resourceRules"], config_maps]}
    for body in ({**policy.body, "spec": spec}, binding.body):
        server.api.apply(body, field_manager="test", force=True)
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": "default"}}
    patience = ScaledTimeout(WAIT_SECONDS)
    while token not in denial(server, probe) or given.policies[0].name not in denial(server, probe):
        assert not patience.is_over(), "the API server does not evaluate the policy"
        time.sleep(0.2)
