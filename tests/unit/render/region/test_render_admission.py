"""Admission policies of the management cluster and of tenant clusters, as declared in the data."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs import admission
from components.lookups.pools import clusters
from components.render.region.admission import AdmissionInput
from components.specs.environment import Environment
from components.specs.region.admission import AdmissionAction, AdmissionSpec
from components.specs.region.policy import Enforcement, WaiverSpec
from components.specs.struct import replace
from tests.support.data.environment_data import reference

ALL = [
    "jacquard-escalating-role",
    "jacquard-excessive-binding",
    "jacquard-large-vm-disks",
    "jacquard-plain-text-bmc",
    "jacquard-privileged-namespace",
    "jacquard-unlisted-registry",
    "jacquard-unsized-vm",
]


def ordered(spec: AdmissionSpec | None = None, **policy: Any) -> Environment:
    """Return laptop with admission policies, listed registries, and ``policy`` in its settings."""
    laptop = reference("laptop")
    settings = {"registries": ("registry.cloud.example/",), **policy}
    return laptop.model_copy(
        update={
            "region": laptop.region.model_copy(update={"admission": spec or AdmissionSpec()}),
            "policy": laptop.policy.model_copy(update=settings),
        }
    )


def management(environment: Environment) -> AdmissionInput:
    [found] = admission.of_region(environment, environment.region)
    return found


def tenant(environment: Environment) -> list[AdmissionInput]:
    [placed, *_] = clusters(environment)
    return list(admission.of_cluster(environment, placed))


def actions(given: AdmissionInput) -> dict[str, list[str]]:
    bindings = [item.body for item in given.render() if item.kind == "ValidatingAdmissionPolicyBinding"]
    return {body["spec"]["policyName"]: body["spec"]["validationActions"] for body in bindings}


def spec_of(given: AdmissionInput, name: str) -> dict[str, Any]:
    [found] = [item.body for item in given.render() if item.name == name and item.kind == "ValidatingAdmissionPolicy"]
    return dict(found["spec"])


def test_without_an_order_there_are_no_policies() -> None:
    laptop = reference("laptop")

    assert list(admission.of_region(laptop, laptop.region)) == []
    assert tenant(laptop) == []


def test_the_management_cluster_has_all_policies_and_tenant_clusters_those_of_vms_and_namespaces() -> None:
    environment = ordered()

    assert list(actions(management(environment))) == ALL
    [inside] = tenant(environment)
    assert list(actions(inside)) == [ALL[2], ALL[4], ALL[6]]
    assert {item.cluster for item in inside.render()} == {"acme-train"}


def test_mandatory_policies_deny_and_advisory_policies_warn() -> None:
    environment = ordered(rules={"unsized-vm": Enforcement.ADVISORY, "large-vm-disks": Enforcement.MANDATORY})

    found = actions(management(environment))

    assert found["jacquard-plain-text-bmc"] == found["jacquard-large-vm-disks"] == ["Deny"]
    assert found["jacquard-unsized-vm"] == ["Warn", "Audit"]


@pytest.mark.parametrize(
    ("action", "expected"), [(AdmissionAction.DENY, ["Deny"]), (AdmissionAction.WARN, ["Warn", "Audit"])]
)
def test_data_determine_the_action_in_tenant_clusters(action: AdmissionAction, expected: list[str]) -> None:
    environment = ordered(AdmissionSpec(management=AdmissionAction.NONE, tenants=action))

    assert list(admission.of_region(environment, environment.region)) == []
    [inside] = tenant(environment)
    assert actions(inside)["jacquard-unsized-vm"] == expected


def test_registries_are_not_evaluated_if_none_are_listed() -> None:
    assert "jacquard-unlisted-registry" not in actions(management(ordered(registries=())))


def test_values_of_the_environment_are_variables() -> None:
    spec = spec_of(management(ordered()), "jacquard-unlisted-registry")

    assert spec["variables"][:2] == [
        {"name": "registries", "expression": '["registry.cloud.example"]'},
        {"name": "is_waived", "expression": "false"},
    ]
    assert spec["failurePolicy"] == "Fail"


def test_objects_with_a_waiver_are_accepted() -> None:
    waiver = WaiverSpec(
        rule="plain-text-bmc", subject="a01-u01", reason="r", owner="o", ticket="T-1", expires="2026-12-01"
    )
    environment = ordered()
    waivers = environment.waivers.model_copy(update={"waivers": (waiver,)})
    given = management(environment.model_copy(update={"waivers": waivers}))

    assert spec_of(given, "jacquard-plain-text-bmc")["variables"][0] == {
        "name": "is_waived",
        "expression": (
            "object.metadata.name in [\"a01-u01\"] || request.kind.kind + ' ' + (has(object.metadata.namespace) ? "
            "object.metadata.namespace + '/' : '') + object.metadata.name in [\"a01-u01\"]"
        ),
    }
    assert spec_of(given, "jacquard-unsized-vm")["variables"][0]["expression"] == "false"


def test_operators_and_controllers_are_exempt_in_the_management_cluster_only() -> None:
    environment = ordered()
    [inside] = tenant(environment)

    def groups(given: AdmissionInput) -> str:
        [_, condition, _] = spec_of(given, "jacquard-privileged-namespace")["matchConditions"]
        return str(condition["expression"])

    for namespace in ("capi-operator-system", "flux-system", "kube-system"):
        assert f'"system:serviceaccounts:{namespace}"' in groups(management(environment))
    exempt = '["system:serviceaccounts:kube-system", "system:nodes"]'
    assert groups(inside) == f"!request.userInfo.groups.exists(g, g in {exempt})"


def test_a_policy_without_values_renders_the_same_for_each_cluster() -> None:
    environment = ordered()
    [inside] = tenant(environment)
    same = replace(management(environment), exempt=(), cluster=inside.cluster)

    assert spec_of(same, "jacquard-unsized-vm") == spec_of(inside, "jacquard-unsized-vm")
