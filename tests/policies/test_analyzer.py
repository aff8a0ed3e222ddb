"""The pack as the engine talks to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from policies.analyzer import Analyzer, context_of
from policies.facts import Context
from policies.rules import RULES
from toolchain import paths

UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
MANDATORY, ADVISORY, DISABLED = analyzer_pb2.MANDATORY, analyzer_pb2.ADVISORY, analyzer_pb2.DISABLED
TEMPLATE = "kubernetes:infrastructure.cluster.x-k8s.io/v1beta2:Metal3MachineTemplate"
HOST = {"kind": "BareMetalHost", "metadata": {"name": "a01-u01", "namespace": "acme-train"}, "spec": {"online": True}}


def request(token: str, properties: Mapping[str, Any], stack: str = "laptop") -> analyzer_pb2.AnalyzeRequest:
    struct = struct_pb2.Struct()
    struct.update(properties)
    provider = analyzer_pb2.AnalyzerProviderResource(name="management")
    urn = f"urn:pulumi:{stack}::jacquard::{token}::x"
    return analyzer_pb2.AnalyzeRequest(type=token, name="x", urn=urn, properties=struct, provider=provider)


def template(checksum: str) -> dict[str, Any]:
    image = {"url": "https://images.cloud.example/x.raw", "checksum": checksum, "checksumType": "sha256"}
    return {
        "kind": "Metal3MachineTemplate",
        "metadata": {"name": "pool-0123456789", "namespace": "acme-train"},
        "spec": {"template": {"spec": {"image": image}}},
    }


def found(response: analyzer_pb2.AnalyzeResponse) -> list[tuple[str, int]]:
    return [(item.policyName, item.enforcementLevel) for item in response.diagnostics]


def configured(**levels: int) -> analyzer_pb2.ConfigureAnalyzerRequest:
    configs = {
        name.replace("_", "-"): analyzer_pb2.PolicyConfig(enforcementLevel=level)  # type: ignore[arg-type] - an enum's number
        for name, level in levels.items()
    }
    return analyzer_pb2.ConfigureAnalyzerRequest(policyConfig=configs)


def test_the_pack_lists_every_rule_as_mandatory() -> None:
    info = Analyzer().GetAnalyzerInfo(empty_pb2.Empty(), None)

    assert (info.name, info.version, info.supportsConfig) == ("jacquard", "0.1.0", True)
    assert [(item.name, item.enforcementLevel) for item in info.policies] == [
        ("unpinned-image", MANDATORY),
        ("image-outside-channel", MANDATORY),
        ("host-beyond-identity", MANDATORY),
        ("template-edited-in-place", MANDATORY),
        ("provider-without-cluster-identifier", MANDATORY),
    ]


def test_a_rule_is_named_after_its_module() -> None:
    modules = sorted(path.stem for path in (paths.ROOT / "policies" / "rules").glob("*.py"))

    assert sorted({rule.name.replace("-", "_") for rule in RULES} | {"__init__"}) == modules


def test_a_violation_reaches_the_engine_with_its_text_and_resource() -> None:
    sent = request("pulumi:providers:kubernetes", {"kubeconfig": "/x"})

    [diagnostic] = Analyzer().Analyze(sent, None).diagnostics

    assert diagnostic.policyName == "provider-without-cluster-identifier"
    assert (diagnostic.policyPackName, diagnostic.urn) == ("jacquard", sent.urn)
    assert diagnostic.severity == analyzer_pb2.POLICY_SEVERITY_CRITICAL
    assert diagnostic.message.startswith("provider-without-cluster-identifier: provider kubernetes x\n  found:   no ")


def test_a_resource_that_is_no_object_is_not_judged() -> None:
    assert found(Analyzer().Analyze(request("command:local:Command", {"create": "true"}), None)) == []


def test_hosts_are_judged_inside_an_object_set() -> None:
    odd = {**HOST, "spec": {"online": True, "image": {"url": "x"}}}
    sent = request("jacquard:index:ObjectSet", {"members": {"a/BareMetalHost": HOST, "b/BareMetalHost": odd}})

    assert found(Analyzer().Analyze(sent, None)) == [("host-beyond-identity", MANDATORY)]


def test_an_object_set_with_unknown_members_is_refused_by_every_rule() -> None:
    sent = request("jacquard:index:ObjectSet", {"members": UNKNOWN_STRING})

    assert found(Analyzer().Analyze(sent, None)) == [(rule.name, MANDATORY) for rule in RULES]


def test_an_unknown_value_is_a_mandatory_violation_and_not_an_advice() -> None:
    response = Analyzer().Analyze(request(TEMPLATE, template(UNKNOWN_STRING)), None)

    assert found(response) == [
        ("unpinned-image", MANDATORY),
        ("image-outside-channel", MANDATORY),
        ("template-edited-in-place", MANDATORY),
    ]
    assert all("unknown until apply" in item.message for item in response.diagnostics)


def test_a_secret_is_judged_by_its_value() -> None:
    secret = {"clusterIdentifier": {SIGNATURE: SECRET, "value": "laptop/management"}}

    assert found(Analyzer().Analyze(request("pulumi:providers:kubernetes", secret), None)) == []


def test_levels_of_the_configuration_hold() -> None:
    analyzer = Analyzer()
    analyzer.Configure(configured(unpinned_image=ADVISORY, image_outside_channel=DISABLED), None)

    assert found(analyzer.Analyze(request(TEMPLATE, template("0" * 64)), None)) == [
        ("unpinned-image", ADVISORY),
        ("template-edited-in-place", MANDATORY),
    ]


def test_remediate_is_as_strict_as_mandatory() -> None:
    analyzer = Analyzer()
    analyzer.Configure(configured(provider_without_cluster_identifier=analyzer_pb2.REMEDIATE), None)

    assert found(analyzer.Analyze(request("pulumi:providers:jacquard", {}), None)) == [
        ("provider-without-cluster-identifier", MANDATORY)
    ]


@pytest.mark.parametrize("stack", ["laptop", "laptop.tenant-acme"])
def test_a_stack_is_judged_by_its_environment(stack: str) -> None:
    context = context_of(stack)

    assert (context.stack, context.environment, context.channel) == (stack, "laptop", "stable")


@pytest.mark.parametrize("stack", ["catalog", "nowhere", "nowhere.tenant-acme"])
def test_a_stack_of_no_environment_allows_nothing(stack: str) -> None:
    assert context_of(stack) == Context(stack=stack)


def test_data_that_cannot_be_read_allows_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "region.yaml").write_text("region: broken\n")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(tmp_path))

    assert context_of("broken.foundation") == Context(stack="broken.foundation")


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
