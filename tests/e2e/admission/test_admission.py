"""Admission policies at a real API server return the same verdicts as the policies, for each object."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.specs.struct import replace
from jacquard.lab.toolchain import binaries
from tests.support.api_servers.admission import CASES, RULES, complete, denial, enforced, inputs_for
from tests.support.api_servers.api_server import LocalApiServer

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("name", RULES)
def test_the_api_server_rejects_exactly_the_objects_that_the_policy_rejects(name: str, server: LocalApiServer) -> None:
    rule, verdicts = RULES[name], {}
    for cluster in sorted({case.get("cluster", MANAGEMENT) for case in CASES[name]}):
        given = inputs_for(cluster, rule)
        with enforced(server, given):
            for case in CASES[name]:
                if case.get("cluster", MANAGEMENT) == cluster and case["object"]["kind"] != "ConfigMap":
                    verdicts[case["name"]] = (case["verdict"], denial(server, complete(case["object"])))

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
    given = inputs_for(cluster, RULES[name])
    [policy] = given.policies
    waived = replace(given, cluster=f"{cluster}-waived", policies=(replace(policy, waived=(case["subject"],)),))

    with enforced(server, given):
        rejected = denial(server, complete(case["object"]))
    with enforced(server, waived):
        accepted = denial(server, complete(case["object"]))

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

    with enforced(server, inputs_for(MANAGEMENT, RULES["escalating-role"])):
        errors = _created_as(
            server,
            complete(case["object"]),
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

    with enforced(server, inputs_for(MANAGEMENT, RULES["unlisted-registry"])):
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
