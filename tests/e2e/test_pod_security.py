"""Pod Security at a real API server: it admits rendered pods, and is the oracle of the policy privileged-namespace."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_server import LocalApiServer
from environment_data import REFERENCES, reference

from components.inputs.manifests import everything
from components.render.manifest import MANAGEMENT
from jacquard.providers.kube import ApiError
from policies.facts import Context, object_fact
from policies.pod_images import PODS
from policies.rules.access.privileged_namespace import RULE
from policies.verdict import Verdict

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

PROBES = yaml.load(Path(__file__).with_name("pod_security_probes.yaml").read_bytes(), Loader=yaml.CSafeLoader)
ENFORCE = "pod-security.kubernetes.io/enforce"
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
ALLOWED = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "name": "main",
            "image": "registry.cloud.example/probe@sha256:" + 64 * "0",
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
    ],
}
"""Pod that every standard permits."""
OTHER = ("serviceAccountName", "priorityClassName", "nodeName", "runtimeClassName")
"""Fields that name objects of the cluster, and that no standard restricts."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("pods") / "server", kinds=())
    try:
        yield running
    finally:
        running.stop()


def probe(case: Any) -> dict[str, Any]:
    """Return a pod that violates one control."""
    [container] = ALLOWED["containers"]
    security = {**container["securityContext"], **case.get("container", {})}
    ports = {"ports": case["ports"]} if "ports" in case else {}
    return {**ALLOWED, **case.get("pod", {}), "containers": [{**container, "securityContext": security, **ports}]}


def namespace(server: LocalApiServer, name: str, labels: dict[str, str]) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    server.api.apply(body, field_manager="test", force=True)


def rejection(server: LocalApiServer, place: str, spec: dict[str, Any]) -> str:
    """Return the reason why Pod Security rejects a pod; empty if it is admitted."""
    spec = {key: value for key, value in spec.items() if key not in OTHER}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": place}, "spec": spec}
    try:
        server.api.apply(pod, field_manager="test", dry_run=True)
    except ApiError as error:
        if "violates PodSecurity" not in str(error):
            raise
        return str(error)
    return ""


@pytest.mark.parametrize("name", REFERENCES)
def test_the_api_server_admits_all_rendered_pods_in_their_namespaces(name: str, server: LocalApiServer) -> None:
    rendered = list(everything(reference(name)))
    labels = {
        (item.cluster, item.name): item.body["metadata"].get("labels") or {}
        for item in rendered
        if item.kind == "Namespace"
    }
    judged, rejected = 0, {}
    for item in rendered:
        if item.kind in PODS and (item.cluster, item.namespace) in labels:
            place = f"{name}-{item.cluster}-{item.namespace}"[:63].rstrip("-")
            known = labels[item.cluster, str(item.namespace)]
            namespace(server, place, {key: value for key, value in known.items() if key.startswith(ENFORCE)})
            spec = item.body
            for step in PODS[item.kind]:
                spec = spec[step]
            judged += 1
            if text := rejection(server, place, spec):
                rejected[f"{item.kind} {item.namespace}/{item.name} in {item.cluster}"] = text

    assert judged
    assert rejected == {}


@pytest.mark.parametrize("standard", ["restricted", "baseline", "privileged"])
def test_the_policy_rejects_exactly_the_standard_that_admits_pods_with_access_to_their_node(
    standard: str, server: LocalApiServer
) -> None:
    labels = {ENFORCE: standard}
    namespace(server, f"probes-{standard}", labels)
    fact = object_fact({"kind": "Namespace", "metadata": {"name": "tools", "labels": labels}}, MANAGEMENT)

    verdict = RULE.judge(fact, Context.of(reference("laptop"), NOW)).verdict
    admitted = {case["control"] for case in PROBES if not rejection(server, f"probes-{standard}", probe(case))}

    assert rejection(server, f"probes-{standard}", ALLOWED) == ""
    assert admitted == ({case["control"] for case in PROBES} if verdict is Verdict.VIOLATION else set())
