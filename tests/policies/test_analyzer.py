"""The policy pack through the engine's protocol."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from environment_data import copy_data
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from jacquard.machine import paths
from policies.analyzer import Analyzer
from policies.facts import Context, Fact
from policies.rules import RULES
from policies.verdict import Finding
from policies.wire import facts_of

UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
MANDATORY, ADVISORY = analyzer_pb2.MANDATORY, analyzer_pb2.ADVISORY
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
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


def configure(analyzer: Analyzer, *, dry_run: bool) -> None:
    analyzer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(dry_run=dry_run), None)


def found(response: analyzer_pb2.AnalyzeResponse) -> list[tuple[str, int]]:
    return [(item.policyName, item.enforcementLevel) for item in response.diagnostics]


def test_the_pack_lists_every_rule_as_strict_as_production_has_it() -> None:
    info = Analyzer(NOW).GetAnalyzerInfo(empty_pb2.Empty(), None)

    assert (info.name, info.version, info.supportsConfig) == ("jacquard", "0.1.0", False)
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
        ("provider-without-cluster-identifier", MANDATORY),
        ("forgetful-provider", MANDATORY),
        ("ignored-changes", MANDATORY),
        ("self-chosen-partition", ADVISORY),
        ("escalating-role", MANDATORY),
        ("excessive-binding", MANDATORY),
        ("privileged-namespace", MANDATORY),
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


def test_a_resource_that_is_no_object_is_not_judged() -> None:
    assert found(Analyzer(NOW).Analyze(request("command:local:Command", {"create": "true"}), None)) == []


@pytest.mark.parametrize("properties", [{}, {"resources": {}}])
def test_what_groups_objects_is_not_judged_but_they_are(properties: dict[str, Any]) -> None:
    assert list(facts_of(request("kubernetes:yaml/v2:ConfigFile", properties))) == []
    [fact] = facts_of(request("kubernetes:core/v1:ConfigMap", {"metadata": {"name": "a"}}))
    assert fact.title == "ConfigMap a in cluster management"


def test_changes_that_the_engine_ignores_are_judged_with_the_object() -> None:
    sent = request("kubernetes:core/v1:ConfigMap", {"kind": "ConfigMap", "metadata": {"name": "a"}})
    sent.options.ignoreChanges.extend(["status", "data"])

    [diagnostic] = Analyzer(NOW).Analyze(sent, None).diagnostics

    assert (diagnostic.policyName, diagnostic.enforcementLevel) == ("ignored-changes", MANDATORY)
    assert diagnostic.message.startswith("ignored-changes: resource x\n  found:   ignoreChanges: data\n")


def test_hosts_are_judged_inside_an_object_set() -> None:
    odd = {**HOST, "spec": {"online": True, "image": {"url": "x"}}}
    sent = request("jacquard:index:ObjectSet", {"members": {"a/BareMetalHost": HOST, "b/BareMetalHost": odd}})

    assert found(Analyzer(NOW).Analyze(sent, None)) == [("host-beyond-identity", MANDATORY)]


def test_what_an_object_set_applies_to_objects_of_others_is_judged_too() -> None:
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
    }  # laptop is a rehearsal
    counting = [rule.name for rule in RULES if rule.name not in only_real]
    assert found(Analyzer(NOW).Analyze(sent, None)) == [(name, MANDATORY) for name in counting]


def test_an_unknown_value_is_a_mandatory_violation_and_not_an_advice() -> None:
    response = Analyzer(NOW).Analyze(request(TEMPLATE, template(UNKNOWN_STRING)), None)

    assert found(response) == [
        ("unpinned-image", MANDATORY),
        ("image-outside-channel", MANDATORY),
        ("deprecated-image", MANDATORY),
        ("template-edited-in-place", MANDATORY),
    ]
    assert all("unknown until apply" in item.message for item in response.diagnostics)


def test_a_secret_is_judged_by_its_value() -> None:
    secret = {"clusterIdentifier": {SIGNATURE: SECRET, "value": "laptop/management"}}

    assert found(Analyzer(NOW).Analyze(request("pulumi:providers:kubernetes", secret), None)) == []


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of laptop that this test may edit; returns its folder."""
    folder = copy_data(tmp_path / "environments", "laptop")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    return folder / "laptop"


def test_levels_of_the_environment_hold(data: Path) -> None:
    (data / "policy.yaml").write_text(
        "schema_version: 1\nrules: {unpinned-image: advisory, unsigned-image: mandatory}\n"
    )

    assert found(Analyzer(NOW).Analyze(request(TEMPLATE, template("0" * 64)), None)) == [
        ("unpinned-image", ADVISORY),
        ("image-outside-channel", MANDATORY),
        ("template-edited-in-place", MANDATORY),
    ]


@pytest.mark.parametrize(
    ("expires", "level", "told"),
    [
        ("2026-11-22", ADVISORY, "a vendor's test (ops, OPS-7, until 2026-11-22)"),
        (
            "2026-11-21",
            MANDATORY,
            (
                "void since 2026-11-21; fix the violation and remove the waiver from environments/laptop/waivers.yaml, "
                "or agree on a new date with ops (OPS-7)"
            ),
        ),
    ],
)
def test_a_waiver_holds_until_the_day_it_expires(expires: str, level: int, told: str, data: Path) -> None:
    (data / "waivers.yaml").write_text(
        "schema_version: 1\nwaivers:\n"
        "  - {rule: provider-without-cluster-identifier, subject: provider kubernetes x, reason: a vendor's test,"
        f" owner: ops, ticket: OPS-7, expires: {expires}}}\n"
    )

    response = Analyzer(NOW).Analyze(request("pulumi:providers:kubernetes", {}), None)

    assert found(response) == [("provider-without-cluster-identifier", level)]
    assert response.diagnostics[0].message.splitlines()[-1] == f"  waiver:  {told}"


FREEZE = """schema_version: 1
freezes:
  - {name: run-7, from: 2026-11-20T00:00:00Z, to: 2026-12-01T00:00:00Z, reason: a training run, tenants: [acme]}
"""


def test_a_freeze_refuses_whatever_an_apply_begins_with(data: Path) -> None:
    (data / "policy.yaml").write_text(FREEZE)
    analyzer = Analyzer(NOW)
    configure(analyzer, dry_run=False)

    for sent in (request("pulumi:pulumi:Stack", {}), request("command:local:Command", {"create": "true"})):
        assert found(analyzer.Analyze(sent, None)) == [("change-in-freeze", MANDATORY)]


def test_a_freeze_is_told_once_in_a_preview(data: Path) -> None:
    (data / "policy.yaml").write_text(FREEZE)
    analyzer = Analyzer(NOW)
    configure(analyzer, dry_run=True)

    assert found(analyzer.Analyze(request("pulumi:pulumi:Stack", {}), None)) == [("change-in-freeze", ADVISORY)]
    assert found(analyzer.Analyze(request("command:local:Command", {}), None)) == []


def test_a_freeze_of_nobody_does_not_hold_the_clusters_of_a_rehearsal(data: Path) -> None:
    (data / "policy.yaml").write_text(FREEZE.replace(", tenants: [acme]", ""))
    analyzer = Analyzer(NOW)

    assert found(analyzer.Analyze(request("pulumi:pulumi:Stack", {}), None)) == [("change-in-freeze", MANDATORY)] * 3
    assert found(analyzer.Analyze(request("pulumi:pulumi:Stack", {}, "laptop.bootstrap"), None)) == []


@pytest.mark.parametrize("file", ["policy.yaml", "waivers.yaml"])
def test_settings_that_cannot_be_read_let_nothing_through(file: str, data: Path) -> None:
    (data / file).write_text("schema_version: 1\nrule: {}\n")

    response = Analyzer(NOW).Analyze(request("command:local:Command", {}), None)

    assert found(response) == [("change-in-freeze", MANDATORY)]
    assert "belongs to no readable environment" in response.diagnostics[0].message


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
