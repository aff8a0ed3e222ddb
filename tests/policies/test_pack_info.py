"""Description of the policy pack: levels, catalogue ids, parameters and remedies of each policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import analyzer_pb2

from policies.catalogue import catalogue
from policies.pack.analyzer import Analyzer
from policies.rules import RULES
from tests.support.engine.policy_pack import ADVISORY, MANDATORY, NOW, served

DISABLED = analyzer_pb2.DISABLED


def described(stack: str = "") -> dict[str, analyzer_pb2.PolicyInfo]:
    with served(Analyzer(NOW)) as stub:
        if stack:
            stub.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack=stack))
        info = stub.GetAnalyzerInfo(empty_pb2.Empty())
    assert (info.name, info.displayName, info.version, info.supportsConfig) == ("jacquard", "Jacquard", "0.1.0", True)
    return {policy.name: policy for policy in info.policies}


def test_a_policy_is_described_for_listings() -> None:
    policy = described()["large-vm-disks"]

    assert json_format.MessageToDict(policy, preserving_proto_field_name=True) == {
        "name": "large-vm-disks",
        "displayName": "Large vm disks",
        "description": "A VM has a root disk of at most 500Gi and at most 4 volumes.",
        "message": "large clones and many volumes delay the start and the migration of the VM",
        "policy_type": "POLICY_TYPE_RESOURCE",
        "severity": "POLICY_SEVERITY_HIGH",
        "framework": {
            "name": "Catalogue of rules for a GPU cloud",
            "version": "0.1.0",
            "reference": "VM-02",
            "specification": "VMs have a size and limited disks",
        },
        "tags": ["VM-02"],
        "remediation_steps": "a root disk for the system only, and one large volume for data.",
        "url": "docs/reference/policies.md#large-vm-disks",
        "configSchema": {
            "properties": {
                "root_disk_gib": {
                    "type": "integer",
                    "description": "Size of root disks in GiB; at most 500, the default",
                },
                "volumes": {
                    "type": "integer",
                    "description": "Number of volumes in addition to the root disk; at most 4, the default",
                },
            }
        },
    }


def test_each_policy_has_a_remedy_and_the_ids_of_the_catalogue() -> None:
    policies = described()

    assert list(policies) == [rule.name for rule in RULES]
    assert [name for name, policy in policies.items() if not policy.remediation_steps] == []
    tagged = {(name, row.id) for row in catalogue().rows for name in row.rules if name in policies}
    assert {(name, tag) for name, policy in policies.items() for tag in policy.tags} == tagged


@pytest.mark.parametrize(
    ("stack", "unsigned", "advised"), [("", MANDATORY, ADVISORY), ("laptop.tenant-acme", DISABLED, ADVISORY)]
)
def test_levels_are_those_of_the_environment_of_the_stack(stack: str, unsigned: int, advised: int) -> None:
    policies = described(stack)

    assert (policies["unsigned-image"].enforcementLevel, policies["large-vm-disks"].enforcementLevel) == (
        unsigned,
        advised,
    )


def test_levels_of_policy_yaml_are_described(data: Path) -> None:
    (data / "policy.yaml").write_text("schema_version: 1\nrules: {large-vm-disks: mandatory}\n")

    assert described("laptop")["large-vm-disks"].enforcementLevel == MANDATORY


def test_stack_wide_policies_have_their_type() -> None:
    stack_wide = {name for name, item in described().items() if item.policy_type == analyzer_pb2.POLICY_TYPE_STACK}

    assert stack_wide == {"duplicate-object", "missing-template", "mixed-pool"}
