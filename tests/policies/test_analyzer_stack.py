"""Stack-wide policies in the policy pack: the engine sends all resources after the last one."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2

from policies.pack.analyzer import Analyzer
from tests.support.engine.policy_pack import (
    ADVISORY,
    MANDATORY,
    NOW,
    UNKNOWN_STRING,
    configure,
    found,
    in_stack,
    request,
)

OBJECT_SET = "jacquard:index:ObjectSet"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "acme-train"}}
GROUP = {
    "apiVersion": "cluster.x-k8s.io/v1beta2",
    "kind": "MachineDeployment",
    "metadata": {"name": "acme-train-infer-a03", "namespace": "acme-train"},
    "spec": {"template": {"spec": {"infrastructureRef": {"apiGroup": "i.example", "kind": "Template", "name": "m"}}}},
}
TEMPLATE = {"apiVersion": "i.example/v1", "kind": "Template", "metadata": {"name": "m", "namespace": "acme-train"}}


def settings(name: str, **properties: Any) -> analyzer_pb2.AnalyzeRequest:
    return request(CONFIG_MAP, {**SETTINGS, **properties}, name=name)


def analyzed(*requests: analyzer_pb2.AnalyzeRequest) -> Analyzer:
    analyzer = Analyzer(NOW)
    for item in requests:
        analyzer.Analyze(item, None)
    return analyzer


@pytest.mark.parametrize("step", [1, -1])
def test_an_object_of_two_resources_is_rejected_at_the_second_resource_in_any_order(step: int) -> None:
    sent = [settings("a"), settings("b")]

    [diagnostic] = analyzed(*sent).AnalyzeStack(in_stack(sent[::step]), None).diagnostics

    assert (diagnostic.policyName, diagnostic.enforcementLevel) == ("duplicate-object", MANDATORY)
    assert diagnostic.urn == sent[1].urn
    assert diagnostic.message.splitlines()[1] == "  found:   rendered 2 times, by resource a, resource b"


def test_members_of_object_sets_are_known_from_their_inputs() -> None:
    members = request(OBJECT_SET, {"members": {"a": SETTINGS}}, name="rack")
    recorded = request(OBJECT_SET, {"setName": "rack", "uids": {}}, name="rack")

    response = analyzed(members, settings("b")).AnalyzeStack(in_stack([recorded, settings("b")]), None)

    assert found(response) == [("duplicate-object", MANDATORY)]


def test_a_patch_of_an_object_is_no_second_object() -> None:
    patch = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "acme-train", "names": ["settings"], "fields": {}}
    sent = [settings("a"), request(OBJECT_SET, {"members": {}, "patches": {"a": patch}}, name="patches")]

    assert found(analyzed(*sent).AnalyzeStack(in_stack(sent), None)) == []


def test_resources_that_only_the_state_contains_are_known_from_their_outputs() -> None:
    group = request("kubernetes:cluster.x-k8s.io/v1beta2:MachineDeployment", GROUP, name="group")
    template = request("kubernetes:i.example/v1:Template", TEMPLATE, name="template")
    recorded = request(OBJECT_SET, {"setName": "rack", "uids": {}}, name="rack")
    analyzer = analyzed(group)

    assert found(analyzer.AnalyzeStack(in_stack([group, template, recorded]), None)) == []
    assert found(analyzer.AnalyzeStack(in_stack([group, recorded]), None)) == [("missing-template", MANDATORY)]


def test_an_object_with_an_unknown_namespace_is_rejected() -> None:
    sent = [settings("a", metadata={"name": "settings", "namespace": UNKNOWN_STRING})]

    assert found(analyzed(*sent).AnalyzeStack(in_stack(sent), None))[0] == ("duplicate-object", MANDATORY)


def test_a_further_run_does_not_know_the_resources_of_the_last_one() -> None:
    rack = request(OBJECT_SET, {"members": {"a": SETTINGS}}, name="rack")
    recorded = request(OBJECT_SET, {"setName": "rack", "uids": {}}, name="rack")
    analyzer = analyzed(rack, settings("b"))
    configure(analyzer, dry_run=False)

    assert found(analyzer.AnalyzeStack(in_stack([recorded, settings("b")]), None)) == []


def test_the_levels_of_the_environment_apply_to_stack_wide_policies(data: Any) -> None:
    (data / "policy.yaml").write_text("schema_version: 1\nrules: {duplicate-object: advisory}\n")
    sent = [settings("a"), settings("b")]

    assert found(analyzed(*sent).AnalyzeStack(in_stack(sent), None)) == [("duplicate-object", ADVISORY)]


def test_a_stack_without_resources_has_no_violations() -> None:
    assert found(Analyzer(NOW).AnalyzeStack(in_stack([]), None)) == []
