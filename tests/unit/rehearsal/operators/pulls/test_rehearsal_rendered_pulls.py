"""Rendered objects for a VPC without egress suffice for image pulls of its nodes, and each of them is required."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.pools.template_revision_2 import build
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress
from components.specs.reading.loader import load_environment
from components.specs.struct import replace
from jacquard.lab.rehearsal.operators.hosts import nodes
from jacquard.machine import paths
from tests.support.changes.node_intents import INTENT
from tests.support.objects.live_objects import obj
from tests.support.objects.pulled_pods import CILIUM, Registries, node, pod, pull, waiting

KINDS = {"DPUDeployment", "DPUServiceConfiguration", "HelmRelease", "OCIRepository"}


@pytest.fixture(scope="module")
def lab() -> Environment:
    found = load_environment("lab", paths.ROOT / "environments")
    assert [vpc.egress for tenant in found.tenants for vpc in tenant.vpcs] == [Egress.NONE]
    return found


@pytest.fixture(scope="module")
def rendered(lab: Environment) -> list[Any]:
    """Return the rendered objects on the path of a pull, with releases installed and the DPU of host h1 deployed."""
    found = [copy.deepcopy(dict(item.body)) for item in everything(lab) if item.kind in KINDS]
    for body in found:
        if body["kind"] == "HelmRelease":
            body["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
    places = [body["metadata"] for body in found if body["kind"] == "DPUDeployment"]
    [(namespace, name)] = [(one["namespace"], one["name"]) for one in places if "research" in one["name"]]
    labels = {"labels": {"svc.dpu.nvidia.com/owned-by-dpudeployment": f"{namespace}_{name}"}}
    spec = {"dpuNodeName": "h1"}
    return [*found, obj("provisioning.dpu.nvidia.com/v1alpha1", "DPU", "d1", spec, namespace, metadata=labels)]


def files(lab: Environment) -> list[dict[str, str]]:
    """Return the files of a node that is created from the current data."""
    registry = lab.region.registry
    assert registry is not None
    template = build(replace(INTENT, mirror=registry.mirror, upstreams=registry.upstreams)).bootstrap["template"]
    return list(template["spec"]["files"])


def pulled(
    objects: Any, monkeypatch: pytest.MonkeyPatch, lab: Environment, management: list[Any], **of_node: Any
) -> tuple[str, str]:
    config = {"spec": {"files": of_node.get("files", files(lab))}}
    monkeypatch.setattr(nodes, "origins", lambda _: {("acme", "n1"): nodes.Origin("h1", config)})
    registry = lab.region.registry
    assert registry is not None
    view = objects(node(), pod(CILIUM))
    pull(objects(*management), view, Registries(CILIUM, **{registry.mirror: str(registry.address)}))
    return waiting(view)


def test_a_node_without_egress_pulls_through_the_cache(
    objects: Any, monkeypatch: pytest.MonkeyPatch, lab: Environment, rendered: list[Any]
) -> None:
    assert pulled(objects, monkeypatch, lab, rendered) == ("ContainerCreating", "")


def test_without_its_hosts_files_it_pulls_nothing(
    objects: Any, monkeypatch: pytest.MonkeyPatch, lab: Environment, rendered: list[Any]
) -> None:
    assert pulled(objects, monkeypatch, lab, rendered, files=[])[1].endswith("dial tcp: lookup quay.io: i/o timeout")


def test_without_the_rule_of_its_dpu_it_pulls_nothing(
    objects: Any, monkeypatch: pytest.MonkeyPatch, lab: Environment, rendered: list[Any]
) -> None:
    registry = lab.region.registry
    assert registry is not None
    closed = copy.deepcopy(rendered)
    for body in closed:
        values = body["spec"].get("serviceConfiguration", {}).get("helmChart", {}).get("values", {})
        if "configuration" in values:
            text = values["configuration"]["startupYAMLJ2"]
            values["configuration"]["startupYAMLJ2"] = text.replace(f"{registry.address}/32", "10.255.255.255/32")

    assert f"dial tcp {registry.address}:443: i/o timeout" in pulled(objects, monkeypatch, lab, closed)[1]


def test_without_an_installed_cache_it_pulls_nothing(
    objects: Any, monkeypatch: pytest.MonkeyPatch, lab: Environment, rendered: list[Any]
) -> None:
    absent = [
        {**body, "status": {}} if body["kind"] == "HelmRelease" and body["metadata"]["name"] == "zot" else body
        for body in rendered
    ]

    assert "connect: connection refused" in pulled(objects, monkeypatch, lab, absent)[1]
