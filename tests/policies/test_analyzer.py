"""The policy pack through the engine's protocol."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from jacquard.machine import paths
from policies.facts import Context, Fact
from policies.pack.analyzer import Analyzer
from policies.pack.wire import facts_of
from policies.rules import RULES
from policies.verdict import Finding
from tests.support.engine.policy_pack import (
    ADVISORY,
    HOST,
    MANDATORY,
    NOW,
    SECRET,
    SIGNATURE,
    TEMPLATE,
    UNKNOWN_STRING,
    found,
    request,
    template,
)


def test_the_pack_lists_every_rule_as_strict_as_production_has_it() -> None:
    info = Analyzer(NOW).GetAnalyzerInfo(empty_pb2.Empty(), None)

    assert (info.name, info.version, info.supportsConfig) == ("jacquard", "0.1.0", True)
    assert [(item.name, item.enforcementLevel) for item in info.policies] == [
        ("unpinned-image", MANDATORY),
        ("image-outside-channel", MANDATORY),
        ("chart-outside-channel", MANDATORY),
        ("unsigned-image", MANDATORY),
        ("deprecated-image", ADVISORY),
        ("fetched-by-tag", MANDATORY),
        ("unlisted-registry", MANDATORY),
        ("host-beyond-identity", MANDATORY),
        ("unverified-bmc", ADVISORY),
        ("plain-text-bmc", MANDATORY),
        ("template-edited-in-place", MANDATORY),
        ("missing-template", MANDATORY),
        ("mixed-pool", MANDATORY),
        ("duplicate-object", MANDATORY),
        ("provider-without-cluster-identifier", MANDATORY),
        ("forgetful-provider", MANDATORY),
        ("foreign-region", MANDATORY),
        ("ignored-changes", MANDATORY),
        ("self-chosen-partition", ADVISORY),
        ("escalating-role", MANDATORY),
        ("excessive-binding", MANDATORY),
        ("privileged-namespace", MANDATORY),
        ("unmatched-monitor", ADVISORY),
        ("unmonitored-component", MANDATORY),
        ("unobserved-component", ADVISORY),
        ("incomplete-alert", ADVISORY),
        ("left-out-add-on", ADVISORY),
        ("overridden-add-on", ADVISORY),
        ("closed-vm-port", ADVISORY),
        ("emulated-vms", ADVISORY),
        ("unsized-vm", MANDATORY),
        ("large-vm-disks", ADVISORY),
        ("turns-on-fabric", ADVISORY),
        ("shared-control-plane-host", ADVISORY),
        ("overcommitted-namespaces", ADVISORY),
        ("change-in-freeze", MANDATORY),
        ("unlimited-waiver", ADVISORY),
    ]


def test_a_rule_is_named_after_its_module() -> None:
    modules = {path.stem for path in (paths.ROOT / "policies" / "rules").glob("*/*.py")} - {"__init__"}

    assert {rule.name.replace("-", "_") for rule in RULES} == modules


def test_a_violation_reaches_the_engine_with_its_text_and_resource() -> None:
    sent = request("pulumi:providers:kubernetes", {"kubeconfig": "/x"})

    [diagnostic] = Analyzer(NOW).Analyze(sent, None).diagnostics

    assert diagnostic.policyName == "provider-without-cluster-identifier"
    assert (diagnostic.policyPackName, diagnostic.urn) == ("jacquard", sent.urn)
    assert diagnostic.severity == analyzer_pb2.POLICY_SEVERITY_CRITICAL
    assert diagnostic.message.startswith("provider-without-cluster-identifier: provider kubernetes x\n  found:   no ")


def test_a_resource_without_an_object_is_not_evaluated() -> None:
    assert found(Analyzer(NOW).Analyze(request("command:local:Command", {"create": "true"}), None)) == []


@pytest.mark.parametrize("properties", [{}, {"resources": {}}])
def test_components_are_not_evaluated_but_their_objects_are(properties: dict[str, Any]) -> None:
    assert list(facts_of(request("kubernetes:yaml/v2:ConfigFile", properties))) == []
    [fact] = facts_of(request("kubernetes:core/v1:ConfigMap", {"metadata": {"name": "a"}}))
    assert fact.title == "ConfigMap a in cluster management"


@pytest.mark.parametrize("name", ["ClusterRole", "ClusterRolePatch", "ClusterRoleList", "ConfigMap"])
def test_an_object_is_evaluated_by_the_kind_that_the_provider_applies(name: str) -> None:
    """The provider applies the kind of the inputs, also for a patch and for a type of another kind."""
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    body = {"kind": "ClusterRole", "metadata": {"name": "a"}, "rules": rules}
    sent = request(f"kubernetes:rbac.authorization.k8s.io/v1:{name}", body)
    [fact] = facts_of(sent)

    assert found(Analyzer(NOW).Analyze(sent, None)) == [("escalating-role", MANDATORY)]
    assert fact.title == "ClusterRole a in cluster management"
    # A patch of an object in the same stack is not a second object.
    assert (fact.source == "") is name.endswith("Patch")


def test_an_unknown_kind_is_undecided() -> None:
    sent = request("kubernetes:core/v1:ConfigMap", {"kind": UNKNOWN_STRING, "metadata": {"name": "a"}})

    assert ("escalating-role", MANDATORY) in found(Analyzer(NOW).Analyze(sent, None))


def test_a_patch_of_a_container_without_an_image_is_not_evaluated_by_its_image() -> None:
    containers = [{"name": "a", "resources": {"limits": {"memory": "1Gi"}}}]
    body = {"kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": containers}}}}

    assert found(Analyzer(NOW).Analyze(request("kubernetes:apps/v1:DeploymentPatch", body), None)) == []


def test_ignored_changes_are_evaluated_with_the_object() -> None:
    sent = request("kubernetes:core/v1:ConfigMap", {"kind": "ConfigMap", "metadata": {"name": "a"}})
    sent.options.ignoreChanges.extend(["status", "data"])

    [diagnostic] = Analyzer(NOW).Analyze(sent, None).diagnostics

    assert (diagnostic.policyName, diagnostic.enforcementLevel) == ("ignored-changes", MANDATORY)
    assert diagnostic.message.startswith("ignored-changes: resource x\n  found:   ignoreChanges: data\n")


def test_a_reference_to_a_stack_of_another_region_is_rejected() -> None:
    def rules(stack: str) -> list[tuple[str, int]]:
        return found(Analyzer(NOW).Analyze(request("pulumi:pulumi:StackReference", {"name": stack}), None))

    assert rules("organization/jacquard/laptop.foundation") == []
    assert rules("organization/jacquard/us-east-04a.foundation") == [("foreign-region", MANDATORY)]


def test_hosts_are_evaluated_inside_an_object_set() -> None:
    odd = {**HOST, "spec": {"online": True, "image": {"url": "x"}}}
    sent = request("jacquard:index:ObjectSet", {"members": {"a/BareMetalHost": HOST, "b/BareMetalHost": odd}})

    assert found(Analyzer(NOW).Analyze(sent, None)) == [("host-beyond-identity", MANDATORY)]


def test_patches_of_an_object_set_are_evaluated_too() -> None:
    place = {"apiVersion": "metal3.io/v1alpha1", "kind": HOST["kind"], "namespace": "inventory"}
    odd = {**place, "names": ["a", "b"], "fields": {"spec": {"image": {"url": "x"}}}}
    unknown = {**odd, "fields": UNKNOWN_STRING}
    even = {**place, "names": ["c"], "fields": {"spec": HOST["spec"]}}

    def rules(**patches: Any) -> list[tuple[str, int]]:
        return found(
            Analyzer(NOW).Analyze(request("jacquard:index:ObjectSet", {"members": {}, "patches": patches}), None)
        )

    nowhere = {key: value for key, value in even.items() if key != "namespace"}

    assert rules(even=even, nowhere={**nowhere, "waitSeconds": 60}) == []
    assert len(rules(unknown={**even, "names": [UNKNOWN_STRING]})) > 1
    assert rules(odd=odd) == [("host-beyond-identity", MANDATORY)] * 2
    assert len(rules(unknown=unknown)) > 1


def test_an_object_set_with_unknown_members_is_refused_by_every_rule_that_counts_there() -> None:
    sent = request("jacquard:index:ObjectSet", {"members": UNKNOWN_STRING})

    only_real = {
        "unsigned-image",
        "fetched-by-tag",
        "shared-control-plane-host",
        "unlimited-waiver",
    }  # laptop is a local region.
    counting = [rule.name for rule in RULES if rule.name not in only_real and not rule.is_stack_wide]
    new = {
        rule.name for rule in RULES if rule.advisory_period and rule.levels[Stage.REHEARSAL] is Enforcement.MANDATORY
    }
    levels = [(name, ADVISORY if name in new else MANDATORY) for name in counting]
    assert found(Analyzer(NOW).Analyze(sent, None)) == levels


def test_an_unknown_value_is_a_mandatory_violation_and_not_an_advice() -> None:
    response = Analyzer(NOW).Analyze(request(TEMPLATE, template(UNKNOWN_STRING)), None)

    assert found(response) == [
        ("unpinned-image", MANDATORY),
        ("image-outside-channel", MANDATORY),
        ("deprecated-image", MANDATORY),
        ("template-edited-in-place", MANDATORY),
    ]
    assert all("unknown until apply" in item.message for item in response.diagnostics)


def test_a_secret_is_evaluated_by_its_value() -> None:
    secret = {"clusterIdentifier": {SIGNATURE: SECRET, "value": "laptop/management"}}

    assert found(Analyzer(NOW).Analyze(request("pulumi:providers:kubernetes", secret), None)) == []


def test_a_rule_that_breaks_refuses_and_is_named_with_the_object() -> None:
    def broken(fact: Fact, context: Context) -> Finding:
        del fact, context
        raise KeyError("spec")  # noqa: EM101 - as a rule would

    rule = replace(RULES[0], find=broken, levels={Stage.REHEARSAL: Enforcement.ADVISORY})

    [diagnostic] = Analyzer(NOW, [rule]).Analyze(request(TEMPLATE, template("0" * 64)), None).diagnostics

    assert (diagnostic.policyName, diagnostic.enforcementLevel) == ("unpinned-image", MANDATORY)
    assert diagnostic.message.splitlines()[:2] == [
        "unpinned-image: Metal3MachineTemplate acme-train/pool-0123456789 in cluster management",
        "  found:   the rule raised an exception: KeyError: 'spec'",
    ]


def test_the_pack_serves_the_way_the_language_host_starts_it() -> None:
    pack = paths.ROOT / "policies"
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(pack)]
    with subprocess.Popen(command, cwd=pack, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                info = analyzer_pb2_grpc.AnalyzerStub(channel).GetAnalyzerInfo(empty_pb2.Empty())
        finally:
            process.terminate()

    assert [policy.name for policy in info.policies] == [rule.name for rule in RULES]
