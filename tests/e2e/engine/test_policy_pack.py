"""The policy pack with the real engine: configuration, stack-wide policies, a second pack, recorded state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from tests.support.machine.captured_commands import start_captured
from tests.support.machine.outcome import Outcome

pytestmark = pytest.mark.e2e

STACK = "laptop"
PACK = str(paths.ROOT / "policies")
PROGRAM = """
import json
from pathlib import Path

import pulumi


class Declared(pulumi.ComponentResource):
    def __init__(self, token, name, inputs):
        super().__init__(token, name, inputs)


for name, (token, inputs) in json.loads(Path("resources.json").read_text()).items():
    Declared(token, name, inputs)
"""
"""Declares resources without a provider, since the engine sends the inputs of all resources to policy packs."""
SECOND_PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy


def no_settings(args, report_violation):
    if args.resource_type == "kubernetes:core/v1:ConfigMap":
        report_violation("ConfigMaps need a review by the platform team")


PolicyPack(
    name="house-rules",
    enforcement_level=EnforcementLevel.ADVISORY,
    policies=[ResourceValidationPolicy(name="no-settings", description="No ConfigMaps", validate=no_settings)],
)
"""
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "acme-train"}}
VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "bastion", "namespace": "virtual-machines"},
    "spec": {
        "instancetype": {"name": "cpu-4"},
        "preference": {"name": "linux"},
        "template": {"spec": {"volumes": [{"name": f"data-{number}", "emptyDisk": {}} for number in range(3)]}},
    },
}
BASTION = {"bastion": ("kubernetes:kubevirt.io/v1:VirtualMachine", VM)}
Resources = Mapping[str, tuple[str, Mapping[str, Any]]]


class Program:
    """A project whose program declares the resources of a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "__main__.py").write_text(PROGRAM)
        runtime = {"name": "python", "options": {"virtualenv": str(paths.VENV)}}
        (folder / "Pulumi.yaml").write_text(json.dumps({"name": "declared", "runtime": runtime}))
        (folder / "state").mkdir()
        self._variables = {
            **environment.process(STACK, backend_url=f"file://{folder / 'state'}?metadata=skip"),
            "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
            "NO_COLOR": "1",
        }
        assert self.pulumi("stack", "init", STACK).code == 0

    def pulumi(self, *arguments: str) -> Outcome:
        command = ("pulumi", *arguments, "--non-interactive")
        process = start_captured(*command, folder=self.folder, variables=self._variables)
        stdout, stderr = process.communicate()
        return Outcome(process.returncode, stdout, stderr)

    def run(self, command: str, resources: Resources, *arguments: str) -> Outcome:
        """Run ``preview`` or ``up`` of ``resources`` with the pack."""
        (self.folder / "resources.json").write_text(json.dumps(resources))
        return self.pulumi(command, "-s", STACK, "--policy-pack", PACK, *arguments)

    def configured(self, resources: Resources, config: Any) -> Outcome:
        """Run ``preview`` of ``resources`` with the configuration ``config`` of the pack."""
        file = self.folder / "policies.json"
        file.write_text(json.dumps(config))
        return self.run("preview", resources, "--policy-pack-config", str(file))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("declared"))


def test_a_limit_and_a_level_of_the_configuration_apply(program: Program) -> None:
    plain = program.run("preview", BASTION)
    lower = program.configured(BASTION, {"large-vm-disks": {"volumes": 2}})
    firm = program.configured(BASTION, {"large-vm-disks": {"volumes": 2, "enforcementLevel": "mandatory"}})

    assert (plain.code, "large-vm-disks" in plain.text) == (0, False), plain.text
    assert (lower.code, "[advisory] [severity: high]  large-vm-disks" in lower.text) == (0, True), lower.text
    assert "found:   3 volumes" in lower.text
    assert (firm.code, "[mandatory] [severity: high]  large-vm-disks" in firm.text) == (1, True), firm.text


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"unpinned-image": "advisory"}, "unpinned-image: 'advisory' is weaker than 'mandatory', its level in "),
        ({"all": "disabled"}, "policy-pack-config: all: 'disabled' is weaker than the level of "),
        ({"all": "remediate"}, "all: 'remediate' is not supported, since objects are changed in the reviewed data"),
        ({"unpined-image": "mandatory"}, "did you mean 'unpinned-image'?"),
        ({"large-vm-disks": {"volume": 2}}, "large-vm-disks.volume: is not a parameter of the policy"),
        ({"large-vm-disks": {"volumes": 9}}, "large-vm-disks.volumes: must be at most 4, the limit of the policy"),
        ({"large-vm-disks": "strict"}, '"strict" is not a valid enforcement level'),
    ],
)
def test_a_wrong_configuration_is_one_error(program: Program, config: Any, text: str) -> None:
    outcome = program.configured(BASTION, config)

    assert outcome.code != 0
    assert outcome.text.count(text) == 1, outcome.text


def test_the_engine_rejects_a_value_of_another_type_by_the_schema(program: Program) -> None:
    outcome = program.configured(BASTION, {"large-vm-disks": {"volumes": "2"}})

    assert outcome.code != 0
    assert "large-vm-disks: volumes: Invalid type. Expected: integer, given: string" in outcome.text


def test_an_object_of_two_resources_ends_the_preview(program: Program) -> None:
    outcome = program.run("preview", {"a": (CONFIG_MAP, SETTINGS), "b": (CONFIG_MAP, SETTINGS)})

    assert outcome.code == 1, outcome.text
    assert "duplicate-object: ConfigMap acme-train/settings in cluster management" in outcome.text
    assert "found:   rendered 2 times, by resource a, resource b" in outcome.text


def test_a_reference_to_a_stack_of_another_region_is_found_in_recorded_state(program: Program) -> None:
    code = (program.folder / "__main__.py").read_text()
    reference = 'pulumi.StackReference("organization/declared/us-east-04a")'
    assert program.pulumi("stack", "init", "us-east-04a").code == 0
    (program.folder / "__main__.py").write_text(f"{code}\n{reference}\n")
    try:
        up = program.run("up", {}, "--yes", "--skip-preview")
        outcome = program.pulumi("policy", "analyze", "-s", STACK, "--policy-pack", PACK)
    finally:
        (program.folder / "__main__.py").write_text(code)

    assert up.code == 0, up.text
    assert outcome.code != 0
    assert "found:   name organization/declared/us-east-04a, of region us-east-04a" in outcome.text


def test_a_second_pack_is_evaluated_in_addition_to_ours(program: Program, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(SECOND_PACK)
    runtime = {"name": "python", "options": {"virtualenv": str(paths.VENV)}}
    (tmp_path / "PulumiPolicy.yaml").write_text(json.dumps({"version": "1.2.3", "runtime": runtime}))
    resources = {"a": (CONFIG_MAP, SETTINGS), "b": (CONFIG_MAP, SETTINGS)}

    outcome = program.run("preview", resources, "--policy-pack", str(tmp_path))

    assert outcome.code == 1, outcome.text
    assert "house-rules@v1.2.3" in outcome.text
    assert outcome.text.count("ConfigMaps need a review by the platform team") == 2
    assert "[mandatory] [severity: high]  duplicate-object" in outcome.text


def test_recorded_state_is_evaluated_without_the_program(program: Program) -> None:
    resources = {"a": (CONFIG_MAP, SETTINGS), **BASTION}
    up = program.run("up", resources, "--yes", "--skip-preview")
    config = program.folder / "analyze.json"
    config.write_text(json.dumps({"large-vm-disks": {"volumes": 2, "enforcementLevel": "mandatory"}}))
    pack = ("--policy-pack", PACK)

    passed = program.pulumi("policy", "analyze", "-s", STACK, *pack)
    rejected = program.pulumi("policy", "analyze", "-s", STACK, *pack, "--policy-pack-config", str(config))

    assert up.code == 0, up.text
    assert passed.code == 0, passed.text
    assert rejected.code != 0
    assert "large-vm-disks: VirtualMachine virtual-machines/bastion" in rejected.text
