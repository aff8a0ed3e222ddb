"""``--policy-pack-config``: levels and parameters through the protocol of the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

from components.specs.base import Stage
from policies.pack.analyzer import Analyzer
from policies.rules import RULES
from tests.support.engine.policy_pack import (
    ADVISORY,
    MANDATORY,
    NOW,
    TEMPLATE,
    as_engine,
    found,
    request,
    served,
    template,
)

VM = "kubernetes:kubevirt.io/v1:VirtualMachine"
REVIEWED = (
    "set levels in environments/laptop/policy.yaml, and waive single violations in environments/laptop/waivers.yaml"
)


def vm(volumes: int, root: str = "40Gi") -> dict[str, Any]:
    disk = {"metadata": {"name": "disk"}, "spec": {"storage": {"resources": {"requests": {"storage": root}}}}}
    others = [{"name": f"data-{number}", "emptyDisk": {"capacity": "1Gi"}} for number in range(volumes)]
    return {
        "kind": "VirtualMachine",
        "metadata": {"name": "bastion", "namespace": "virtual-machines"},
        "spec": {
            "instancetype": {"name": "cpu-4"},
            "preference": {"name": "linux"},
            "dataVolumeTemplates": [disk],
            "template": {"spec": {"volumes": [{"name": "root", "dataVolume": {"name": "disk"}}, *others]}},
        },
    }


def judged(file: dict[str, Any], token: str, properties: dict[str, Any]) -> list[tuple[str, int]]:
    with served(Analyzer(NOW)) as stub:
        as_engine(stub, file)
        return found(stub.Analyze(request(token, properties)))


def errors(file: dict[str, Any], stack: str = "laptop") -> str:
    with served(Analyzer(NOW)) as stub, pytest.raises(grpc.RpcError) as caught:
        as_engine(stub, file, stack)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    return str(caught.value.details())


def test_without_a_file_the_levels_are_those_of_the_environment() -> None:
    assert judged({}, VM, vm(5)) == [("large-vm-disks", ADVISORY)]


@pytest.mark.parametrize("file", [{"large-vm-disks": "mandatory"}, {"all": "mandatory"}])
def test_a_level_can_be_stricter(file: dict[str, Any]) -> None:
    assert judged(file, VM, vm(5)) == [("large-vm-disks", MANDATORY)]


def test_a_policy_that_the_stage_does_not_evaluate_can_be_enabled() -> None:
    unsigned = template("97e48efb44c0b4d9fe9e4fc38de45ad221078f1082bac897841dbf0f247f7030")
    assert ("unsigned-image", ADVISORY) not in judged({}, TEMPLATE, unsigned)
    assert ("unsigned-image", ADVISORY) in judged({"unsigned-image": "advisory"}, TEMPLATE, unsigned)


def test_an_entry_of_a_policy_precedes_all() -> None:
    file = {"all": "mandatory", "large-vm-disks": "advisory"}

    assert judged(file, VM, vm(5)) == [("large-vm-disks", ADVISORY)]


def test_a_waiver_still_applies_to_a_stricter_level(data: Path) -> None:
    (data / "waivers.yaml").write_text(
        "schema_version: 1\nwaivers:\n"
        "  - {rule: large-vm-disks, subject: VirtualMachine virtual-machines/bastion, reason: a test, owner: ops,"
        " ticket: OPS-7, expires: 2026-12-01}\n"
    )

    assert judged({"large-vm-disks": "mandatory"}, VM, vm(5)) == [("large-vm-disks", ADVISORY)]


@pytest.mark.parametrize(
    ("parameters", "body", "text"),
    [
        (
            {"volumes": 2},
            vm(3),
            "  found:   3 volumes\n  allowed: a root disk of at most 500Gi, and at most 2 ",
        ),
        ({"root_disk_gib": 20}, vm(0), "  found:   a root disk of 40Gi\n  allowed: a root disk of at most 20Gi, and "),
    ],
)
def test_a_limit_can_be_lower(parameters: dict[str, int], body: dict[str, Any], text: str) -> None:
    with served(Analyzer(NOW)) as stub:
        as_engine(stub, {"large-vm-disks": parameters})
        [diagnostic] = stub.Analyze(request(VM, body)).diagnostics

    assert text in diagnostic.message
    assert judged({}, VM, body) == []


def test_registries_can_be_a_part_of_those_of_the_environment(data: Path) -> None:
    (data / "policy.yaml").write_text("schema_version: 1\nregistries: [registry.cloud.example]\n")
    chart = {
        "kind": "OCIRepository",
        "metadata": {"name": "x", "namespace": "acme-train"},
        "spec": {"url": "oci://registry.cloud.example/charts/x", "ref": {"digest": f"sha256:{'0' * 64}"}},
    }
    token = "kubernetes:source.toolkit.fluxcd.io/v1:OCIRepository"
    narrow = {"unlisted-registry": {"registries": ["registry.cloud.example/images"]}}

    assert judged({}, token, chart) == []
    assert judged(narrow, token, chart) == [("unlisted-registry", MANDATORY)]
    assert errors({"unlisted-registry": {"registries": ["registry.cloud.example.evil.com"]}}) == (
        "policy-pack-config: unlisted-registry.registries: must be below registries of environments/laptop/policy.yaml:"
        " registry.cloud.example; not registry.cloud.example.evil.com (got a list)"
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            {"unpined-image": "mandatory"},
            "'unpined-image' is not a policy (docs/reference/policies.md); did you mean 'unpinned-image'?",
        ),
        (
            {"unpinned-image": "advisory"},
            f"unpinned-image: 'advisory' is weaker than 'mandatory', its level in environment laptop; {REVIEWED}",
        ),
        (
            {"large-vm-disks": "disabled"},
            f"large-vm-disks: 'disabled' is weaker than 'advisory', its level in environment laptop; {REVIEWED}",
        ),
        (
            {"large-vm-disks": {"enforcementLevel": 7}},
            "large-vm-disks: the level must be one of disabled, advisory, mandatory",
        ),
        (
            {"large-vm-disks": "remediate"},
            (
                "large-vm-disks: 'remediate' is not supported, since objects are changed in the reviewed data only; "
                "write mandatory and fix the data"
            ),
        ),
        (
            {"all": "remediate"},
            (
                "all: 'remediate' is not supported, since objects are changed in the reviewed data only; "
                "write mandatory and fix the data"
            ),
        ),
        (
            {"all": {"enforcementLevel": "mandatory", "volumes": 2}},
            "all.volumes: is not a parameter, since all has only a level; write it below a policy",
        ),
        (
            {"large-vm-disks": {"volume": 2}},
            (
                "large-vm-disks.volume: is not a parameter of the policy (parameters: root_disk_gib, volumes); did "
                "you mean 'volumes'?"
            ),
        ),
        (
            {"unpinned-image": {"volumes": 2}},
            "unpinned-image.volumes: is not a parameter of the policy (it has none)",
        ),
        (
            {"large-vm-disks": {"volumes": 8}},
            "large-vm-disks.volumes: must be at most 4, the limit of the policy (got 8.0)",
        ),
        (
            {"large-vm-disks": {"volumes": 1.5}},
            "large-vm-disks.volumes: must be a whole number of at least 0 (got 1.5)",
        ),
        (
            {"large-vm-disks": {"volumes": True}},
            "large-vm-disks.volumes: must be a whole number of at least 0 (got true)",
        ),
        (
            {"unlisted-registry": {"registries": "registry.example"}},
            (
                "unlisted-registry.registries: must be a list of registries, such as [registry.example/charts] (got "
                "'registry.example')"
            ),
        ),
    ],
)
def test_a_wrong_entry_is_one_error(file: dict[str, Any], text: str) -> None:
    assert errors(file) == f"policy-pack-config: {text}"


def test_all_policies_can_not_be_disabled() -> None:
    effective = [rule.name for rule in RULES if rule.levels.get(Stage.REHEARSAL)]

    assert errors({"all": "disabled"}) == (
        f"policy-pack-config: all: 'disabled' is weaker than the level of {len(effective)} policies in environment "
        f"laptop ({', '.join(effective[:10])} and {len(effective) - 10} more); write single policies "
        f"instead, {REVIEWED}"
    )


def test_each_wrong_entry_is_a_line() -> None:
    file = {"unpinned-image": "advisory", "large-vm-disks": {"volumes": 8}, "x": "advisory"}

    assert [line.split(":")[1].split(" ")[1] for line in errors(file).splitlines()] == [
        "'x'",
        "unpinned-image",
        "large-vm-disks.volumes",
    ]


def test_a_stack_of_no_environment_has_the_levels_of_production() -> None:
    assert errors({"unsigned-image": "advisory"}, stack="elsewhere") == (
        "policy-pack-config: unsigned-image: 'advisory' is weaker than 'mandatory', its level in a stack without a "
        "readable environment; set levels in environments/elsewhere/policy.yaml, and waive single violations in "
        "environments/elsewhere/waivers.yaml"
    )


def test_a_level_of_the_environment_can_permit_a_weaker_entry(data: Path) -> None:
    (data / "policy.yaml").write_text("schema_version: 1\nrules: {unpinned-image: advisory}\n")

    assert ("unpinned-image", ADVISORY) in judged({"unpinned-image": "advisory"}, TEMPLATE, template("0" * 64))
