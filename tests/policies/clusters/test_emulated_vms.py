"""emulated-vms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.specs.region.policy import Enforcement
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.clusters.emulated_vms import RULE
from policies.verdict import Verdict


def kubevirt(configuration: Any) -> Fact:
    metadata = {"name": "kubevirt", "namespace": "kubevirt"}
    return object_fact(
        {"kind": "KubeVirt", "metadata": metadata, "spec": {"configuration": configuration}}, "acme-train"
    )


def test_reports_vms_without_hardware_virtualisation(context: Context, text: Callable[..., str]) -> None:
    fact = kubevirt({"developerConfiguration": {"useEmulation": True}})

    assert RULE.level(context) is Enforcement.ADVISORY
    assert text(RULE, fact, context) == (
        "emulated-vms: KubeVirt kubevirt/kubevirt in cluster acme-train\n"
        "  found:   VMs are emulated in software on nodes without virtualisation (useEmulation)\n"
        "  allowed: VMs that use hardware virtualisation\n"
        "  why:     software emulation is many times slower than hardware virtualisation, and VMs do not show it\n"
        "  fix:     enable virtualisation in the firmware of the hosts, and remove vm_emulation from region.yaml\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject KubeVirt kubevirt/kubevirt"
    )


@pytest.mark.parametrize("configuration", [{}, {"developerConfiguration": {"useEmulation": False}}])
def test_passes_vms_that_the_hardware_runs(configuration: Any, context: Context) -> None:
    assert RULE.judge(kubevirt(configuration), context).verdict is Verdict.PASS


def test_unknown_values_are_undecided(context: Context) -> None:
    assert RULE.judge(kubevirt(UNKNOWN), context).verdict is Verdict.UNDECIDED
