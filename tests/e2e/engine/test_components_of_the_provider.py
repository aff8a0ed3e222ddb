"""Components of the kubernetes stand-in, created by the real engine and the Python SDK at a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine.pulumi_project import Project

pytestmark = pytest.mark.e2e

PROGRAM = """
import os

import pulumi
import pulumi_kubernetes as kubernetes

from stacks.ambient import refuse_ambient_clusters

refuse_ambient_clusters()
mill = kubernetes.Provider("mill", kubeconfig=os.environ["KUBECONFIG"], namespace="mill")
there = pulumi.ResourceOptions(provider=mill)
looms = kubernetes.yaml.v2.ConfigFile("looms", file="looms.yaml", opts=there)
kubernetes.yaml.v2.ConfigGroup(
    "threads",
    files=["threads-*.yaml"],
    objs=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "weft"}, "data": {"count": looms.urn}}],
    resource_prefix="",
    skip_await=True,
    opts=pulumi.ResourceOptions(provider=mill, depends_on=[looms]),
)
kubernetes.kustomize.v2.Directory("cloth", directory="cloth", opts=there)
kubernetes.kustomize.Directory("older", directory="older", opts=there)
pulumi.export("made", looms.resources.apply(lambda all: len(all)))
"""
LOOMS = """
apiVersion: mill.example/v1
kind: Loom
metadata: {name: jacquard}
spec: {cards: 4}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: mill}}
- {apiVersion: v1, kind: Secret, metadata: {name: pattern}, stringData: {lilies: "of the valley"}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: looms.mill.example}
spec:
  group: mill.example
  scope: Namespaced
  names: {kind: Loom, plural: looms}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
CONFIG_MAP = "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}}}}}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("components") / "server", kinds=())
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def project(server: LocalApiServer, tmp_path: Path) -> Project:
    made = Project(tmp_path / "project", server.kubeconfig, PROGRAM)
    (made.folder / "looms.yaml").write_text(LOOMS)
    for name in ("a", "b"):
        # The garbage collector, which would complete a foreground deletion, does not run here.
        background = "annotations: {pulumi.com/deletionPropagationPolicy: background}"
        (made.folder / f"threads-{name}.yaml").write_text(CONFIG_MAP.format(f"warp-{name}, {background}"))
    for folder in ("cloth", "older"):
        (made.folder / folder).mkdir()
        text = f"namePrefix: {folder}-\nnamespace: weaver\nresources: [bolt.yaml]\n"
        (made.folder / folder / "kustomization.yaml").write_text(text)
        (made.folder / folder / "bolt.yaml").write_text(CONFIG_MAP.format("bolt"))
    return made


def recorded(project: Project) -> dict[str, dict[str, Any]]:
    """Return the resources of objects in the state, by type below their component and name."""
    outcome = project.pulumi("stack", "export", "-s", "test")
    assert outcome.code == 0, outcome.text
    found = json.loads(outcome.stdout)["deployment"].get("resources") or ()
    return {one["urn"].partition("::sets::")[2]: one for one in found if "$" in one["urn"]}


def live(server: LocalApiServer, *names: str) -> list[dict[str, Any] | None]:
    return [server.api.get(ObjectRef("v1", "ConfigMap", *reversed(name.split("/")))) for name in names]


FILE, GROUP = "kubernetes:yaml/v2:ConfigFile$kubernetes:", "kubernetes:yaml/v2:ConfigGroup$kubernetes:"
DEFINITION = f"{FILE}apiextensions.k8s.io/v1:CustomResourceDefinition::looms:looms.mill.example"
NAMESPACE, LOOM = f"{FILE}core/v1:Namespace::looms:mill", f"{FILE}mill.example/v1:Loom::looms:mill/jacquard"
SECRET = f"{FILE}core/v1:Secret::looms:mill/pattern"
WARPS = [f"{GROUP}core/v1:ConfigMap::mill/warp-{one}" for one in "ab"]
BOLTS = {
    "kubernetes:kustomize/v2:Directory$kubernetes:core/v1:ConfigMap::cloth:weaver/cloth-bolt",
    "kubernetes:kustomize:Directory$kubernetes:core/v1:ConfigMap::weaver/older-bolt",
}


def test_each_object_is_a_resource_created_in_order_updated_and_deleted(
    server: LocalApiServer, project: Project
) -> None:
    server.namespace("weaver")
    preview = project.preview()
    assert preview.code == 0, preview.text

    up = project.up()
    assert up.code == 0, up.text
    assert "made: 4" in up.text
    state = recorded(project)
    weft = f"{GROUP}core/v1:ConfigMap::mill/weft"
    assert set(state) == {DEFINITION, NAMESPACE, LOOM, SECRET, *WARPS, weft, *BOLTS}
    assert {one.partition("::sets::")[2] for one in state[LOOM]["dependencies"]} == {DEFINITION, NAMESPACE}
    assert "ciphertext" in state[SECRET]["inputs"]["data"]
    assert state[weft]["inputs"]["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    assert None not in live(server, "mill/weft", "mill/warp-a", "mill/warp-b", "weaver/cloth-bolt", "weaver/older-bolt")

    again = project.preview("--expect-no-changes")
    assert again.code == 0, again.text

    (project.folder / "threads-b.yaml").unlink()
    (project.folder / "looms.yaml").write_text(LOOMS.replace("cards: 4", "cards: 5"))
    changed = project.up()
    assert (changed.code, "1 updated" in changed.text, "1 deleted" in changed.text) == (0, True, True), changed.text
    assert live(server, "mill/warp-b") == [None]
    loom = server.api.get(ObjectRef("mill.example/v1", "Loom", "jacquard", "mill"))
    assert loom is not None
    assert loom["spec"] == {"cards": 5}
