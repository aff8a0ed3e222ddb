"""States of the vendor's provider and of older stand-ins cause no steps for an unchanged program."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.objects import bodies
from jacquard.lab.standins.kubernetes.objects.normal import normal
from tests.support.engine import recorded_states
from tests.support.engine.driven_standin import DrivenStandIn
from tests.support.engine.recorded_states import Recorded
from tests.support.engine.vendor_diff import vendor_diff


@pytest.fixture
def standin(tmp_path: Path) -> DrivenStandIn:
    """A stand-in without a reachable cluster, since a plan requires none."""
    return DrivenStandIn(tmp_path / "none")


def recorded_by_vendor() -> list[Recorded]:
    laptop = [item for name in ("laptop-created", "laptop-updated") for item in recorded_states.of_vendor(name)]
    return laptop + list(recorded_states.of_programs())


def test_states_of_the_vendors_provider_are_continued_without_steps(standin: DrivenStandIn) -> None:
    steps = {
        str(item): standin.diff(item.urn, item.inputs, item.outputs, standin.check(item.urn, item.inputs, item.inputs))
        for item in recorded_by_vendor()
    }

    assert len(steps) > 60
    assert {name: step for name, step in steps.items() if step} == {}


def test_inputs_are_kept_as_the_vendors_provider_keeps_them(standin: DrivenStandIn) -> None:
    checked = {str(item): standin.check(item.urn, item.inputs) == item.inputs for item in recorded_by_vendor()}

    assert [name for name, same in checked.items() if not same] == []


def test_the_vendors_comparison_finds_no_changes_in_its_own_states() -> None:
    found = {str(item): vendor_diff(item.outputs, item.inputs) for item in recorded_by_vendor()}

    assert {name: change for name, change in found.items() if change} == {}


def test_an_older_state_plans_nothing_here_and_once_refreshed_nothing_there(standin: DrivenStandIn) -> None:
    older = recorded_states.older()
    assert len(older) == 156
    assert len([item for item in older if vendor_diff(item.outputs, item.inputs)]) == 156

    steps = {}
    for item in older:
        checked = standin.check(item.urn, item.inputs, item.inputs)
        upgraded = bodies.outputs(item.outputs, "jacquard", normal(item.inputs), item.outputs)
        steps[str(item)] = (
            standin.diff(item.urn, item.inputs, item.outputs, checked),
            vendor_diff(upgraded, checked),
        )
    assert {name: step for name, step in steps.items() if step != ({}, {})} == {}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"requests.cpu": "1000m"}, "scopes": []}},
            {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"requests.cpu": "1"}}},
        ),
        (
            {"apiVersion": "v1", "kind": "Secret", "data": {"a": "YQ==\n"}, "stringData": {"pw": "geheim"}},
            {"apiVersion": "v1", "kind": "Secret", "data": {"a": "YQ==", "pw": "Z2VoZWlt"}},
        ),
        (
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 0, "globalDefault": False},
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 0},
        ),
        (
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": {}, "subjects": []},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": {}},
        ),
        (
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"labels": {}, "generation": 3, "creationTimestamp": None},
                "spec": {
                    "replicas": 0,
                    "paused": False,
                    "template": {
                        "spec": {
                            "containers": [{"name": "c", "resources": {"limits": {"cpu": 2, "memory": "1024Mi"}}}],
                            "volumes": [{"name": "v", "emptyDir": {}}],
                        }
                    },
                },
            },
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {},
                "spec": {
                    "replicas": 0,
                    "template": {
                        "spec": {
                            "containers": [{"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}],
                            "volumes": [{"name": "v", "emptyDir": {}}],
                        }
                    },
                },
            },
        ),
        (
            {"apiVersion": "toy.dev/v1", "kind": "Loom", "spec": {"cpu": "1000m", "threads": [], "on": False}},
            {"apiVersion": "toy.dev/v1", "kind": "Loom", "spec": {"cpu": "1000m", "threads": [], "on": False}},
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {}, "dta": {"misspelt": ""}},
            {"apiVersion": "v1", "kind": "ConfigMap", "dta": {"misspelt": ""}},
        ),
        (
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "spec": {"preserveUnknownFields": False, "versions": [{"x_kubernetes_list_type": "map"}]},
                "status": {},
            },
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "spec": {"versions": [{"x-kubernetes-list-type": "map"}]},
            },
        ),
    ],
)
def test_equivalent_values_keep_one_spelling(given: dict[str, Any], kept: dict[str, Any]) -> None:
    assert normal(given) == kept
    assert normal(kept) == kept
