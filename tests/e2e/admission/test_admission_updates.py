"""Admission policies at a real API server for updates of objects that are older than the policy."""

from __future__ import annotations

import json
import subprocess

import pytest

from components.render.manifest import MANAGEMENT
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.admission import (
    CASES,
    REGISTRIES,
    RULES,
    complete,
    denial,
    enforced,
    inputs_for,
)
from tests.support.api_servers.api_server import LocalApiServer

pytestmark = pytest.mark.e2e


def test_a_debug_container_is_from_a_listed_registry(server: LocalApiServer) -> None:
    """An ephemeral container is added by a subresource; the pod may be older than the policy."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "debugged", "namespace": "default"},
        "spec": {"containers": [{"name": "a", "image": "quay.io/tools"}]},
    }
    server.api.apply(pod, field_manager="test", force=True)

    with enforced(server, inputs_for(MANAGEMENT, RULES["unlisted-registry"])):
        unlisted, listed = (_debugged(server, image) for image in ("quay.io/debug", f"{REGISTRIES[0]}/debug"))

    assert "unlisted-registry: " in unlisted
    assert listed == ""


def _debugged(server: LocalApiServer, image: str) -> str:
    """Return the error of a debug container with ``image`` in the pod ``debugged``; empty if it is accepted."""
    command = [str(binaries.path("kubectl")), f"--kubeconfig={server.kubeconfig}", "patch", "pod", "debugged"]
    added = {"spec": {"ephemeralContainers": [{"name": "debug", "image": image}]}}
    command += ["--subresource=ephemeralcontainers", "--dry-run=server", f"--patch={json.dumps(added)}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def test_an_object_that_is_older_than_its_policy_can_be_labelled_and_deleted_but_not_changed(
    server: LocalApiServer,
) -> None:
    [case, *_] = [
        case
        for case in CASES["unsized-vm"]
        if case["verdict"] == "violation" and case["object"]["kind"] == "VirtualMachine"
    ]
    body = complete(case["object"])
    metadata = {**body["metadata"], "name": "older", "finalizers": ["kubevirt.io/virtualMachineControllerFinalize"]}
    older = {**body, "metadata": metadata}
    cluster = case.get("cluster", MANAGEMENT)
    server.api.apply(older, field_manager="test", force=True)
    changed = {**older, "spec": {**older["spec"], "runStrategy": "Halted"}}
    released = {**older, "metadata": {**metadata, "finalizers": [], "labels": {"a": "b"}}}

    with enforced(server, inputs_for(cluster, RULES["unsized-vm"])):
        assert "unsized-vm: " in denial(server, changed)
        assert denial(server, released) == ""
        server.api.apply(released, field_manager="test", force=True)
        server.api.delete(ObjectRef.of(older))
