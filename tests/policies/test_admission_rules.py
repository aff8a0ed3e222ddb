"""The table of admission policies agrees with the policies: names, levels, kinds and limits."""

from __future__ import annotations

import pytest

from components.lookups.admission import admission_rules
from components.render.region.admission_rule import AdmissionRule
from components.specs.vms.vm_sizes import MOST_ROOT
from policies.rules import RULES
from policies.rules.clusters.large_vm_disks import MOST_VOLUMES
from policies.rules.images.unlisted_registry import RULE as REGISTRIES
from policies.verdict import Rule

BY_NAME = {str(rule.name): rule for rule in RULES}
TABLE = [pytest.param(row, BY_NAME[row.policy], id=row.policy) for row in admission_rules()]


@pytest.mark.parametrize(("row", "policy"), TABLE)
def test_a_row_has_the_level_and_the_text_of_its_policy(row: AdmissionRule, policy: Rule) -> None:
    assert set(policy.levels.values()) == {row.level}
    assert f"{row.message}." == policy.description


@pytest.mark.parametrize(("row", "policy"), TABLE)
def test_a_row_has_the_kinds_of_its_policy(row: AdmissionRule, policy: Rule) -> None:
    names = {name.partition("/")[0] for resources in row.resources for name in resources.names}
    singular = {name.removesuffix("s").replace("repositorie", "repository") for name in names}

    assert singular == {kind.lower() for kind in policy.kinds}


def test_the_limits_of_volumes_are_those_of_the_policy() -> None:
    [row] = [row for row in admission_rules() if row.policy == "large-vm-disks"]

    assert f"<= {MOST_VOLUMES} " in row.allowed
    assert f"quantity('{MOST_ROOT}')" in row.allowed


def test_values_are_those_of_the_environment() -> None:
    assert {name for row in admission_rules() for name in row.values} == {"registries", "host_namespaces", "admins"}
    assert "OCIRepository" in REGISTRIES.kinds
