"""Admission policies at a real API server return the same verdicts as the policies, for each object."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
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
from jacquard.lab.rehearsal import crds
from jacquard.lab.toolchain import binaries
from jacquard.machine import paths
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.machine.scaled_timeout import ScaledTimeout

pytestmark = pytest.mark.e2e

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
    **dict.fromkeys(("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"), "rbac.authorization.k8s.io/v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
    **dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"), "apps/v1"),
}
WAIT_SECONDS = 30
STANDARD = "pod-security.kubernetes.io/enforce"
"""Label for which the API server itself rejects unknown values."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """Return an API server with the kinds of the fixtures and their namespaces."""
    running = LocalApiServer(tmp_path_factory.mktemp("admission") / "server", kinds=())
    try:
        crds.install(running.api, [_definition(kind) for kind in CUSTOM])
        cases = [case["object"]["metadata"] for items in CASES.values() for case in items]
        for name in {"default", *(metadata["namespace"] for metadata in cases if metadata.get("namespace"))}:
            running.namespace(name)
        yield running
    finally:
        running.stop()


def _definition(kind: str) -> dict[str, Any]:
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


def _inputs(cluster: str, rule: AdmissionRule) -> AdmissionInput:
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


def _complete(body: dict[str, Any]) -> dict[str, Any]:
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


def _denial(server: LocalApiServer, body: dict[str, Any]) -> str:
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
    while token not in _denial(server, probe) or given.policies[0].name not in _denial(server, probe):
        assert not patience.is_over(), "the API server does not evaluate the policy"
        time.sleep(0.2)


@pytest.mark.parametrize("name", RULES)
def test_the_api_server_rejects_exactly_the_objects_that_the_policy_rejects(name: str, server: LocalApiServer) -> None:
    rule, verdicts = RULES[name], {}
    for cluster in sorted({case.get("cluster", MANAGEMENT) for case in CASES[name]}):
        given = _inputs(cluster, rule)
        with enforced(server, given):
            for case in CASES[name]:
                if case.get("cluster", MANAGEMENT) == cluster and case["object"]["kind"] != "ConfigMap":
                    verdicts[case["name"]] = (case["verdict"], _denial(server, _complete(case["object"])))

    rejected = {case: bool(text) for case, (_, text) in verdicts.items()}
    assert rejected == {case: verdict in {"violation", "waived"} for case, (verdict, _) in verdicts.items()}
    assert {True, False} <= set(rejected.values())
    named = [f"{name}: {rule.message}" in text for _, text in verdicts.values() if "Policy" in text]
    assert named
    assert all(named)


@pytest.mark.parametrize("name", RULES)
def test_the_api_server_accepts_an_object_with_a_waiver(name: str, server: LocalApiServer) -> None:
    [case] = [case for case in CASES[name] if case["verdict"] == "waived"]
    cluster = case.get("cluster", MANAGEMENT)
    given = _inputs(cluster, RULES[name])
    [policy] = given.policies
    waived = replace(given, cluster=f"{cluster}-waived", policies=(replace(policy, waived=(case["subject"],)),))

    with enforced(server, given):
        rejected = _denial(server, _complete(case["object"]))
    with enforced(server, waived):
        accepted = _denial(server, _complete(case["object"]))

    assert name in rejected
    assert accepted == ""


@pytest.mark.parametrize(
    ("namespace", "is_exempt"),
    [("capi-operator-system", True), ("flux-system", True), ("kube-system", True), ("tools", False)],
)
def test_accounts_of_operators_and_controllers_are_exempt(
    namespace: str, *, is_exempt: bool, server: LocalApiServer
) -> None:
    [case, *_] = [case for case in CASES["escalating-role"] if case["verdict"] == "violation"]

    with enforced(server, _inputs(MANAGEMENT, RULES["escalating-role"])):
        errors = _created_as(
            server,
            _complete(case["object"]),
            f"system:serviceaccount:{namespace}:manager",
            f"system:serviceaccounts:{namespace}",
        )

    assert (errors == "") is is_exempt, errors
    assert ("escalating-role: " in errors) is not is_exempt


def test_only_kubelets_create_mirror_pods_from_unlisted_registries(server: LocalApiServer) -> None:
    """A kubelet creates the mirror pod of a static pod, whose image may be from kubeadm's default registry."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "etcd-host-1",
            "namespace": "kube-system",
            "annotations": dict.fromkeys(("kubernetes.io/config.mirror", "kubernetes.io/config.hash"), "1"),
        },
        "spec": {"nodeName": "host-1", "containers": [{"name": "etcd", "image": "registry.k8s.io/etcd:3.6.5-0"}]},
    }

    with enforced(server, _inputs(MANAGEMENT, RULES["unlisted-registry"])):
        by_kubelet = _created_as(server, pod, "system:node:host-1", "system:nodes")
        by_user = _created_as(server, pod, "alice", "admins")

    assert by_kubelet == ""
    assert "unlisted-registry: " in by_user


def _created_as(server: LocalApiServer, body: dict[str, Any], user: str, group: str) -> str:
    """Return the error of a creation by ``user`` in ``group``, who has all permissions; empty if it is accepted."""
    command = [str(binaries.path("kubectl")), f"--kubeconfig={server.kubeconfig}", "create", "--dry-run=server"]
    command += [f"--as={user}", f"--as-group={group}", "--as-group=system:masters", "-f", "-"]
    done = subprocess.run(command, input=json.dumps(body), capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""
