"""Destructive steps of a preview: deleted objects, properties that force a replacement, changes in the declaration."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.engine.plan import Plan
from tests.support.changes.planned_steps import deleted, replaced, same


def plan(*steps: dict[str, Any]) -> Plan:
    planned = Plan()
    for step in steps:
        planned.see(step)
    return planned


def test_a_plan_without_steps_has_no_changes_to_apply() -> None:
    assert plan().empty is False


def test_a_plan_is_empty_if_every_resource_is_as_recorded() -> None:
    assert plan(same("Namespace", "a"), same("Namespace", "b")).empty is True


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("protect", True),
        ("retainOnDelete", True),
        ("outputs", {"vni": 2}),
        ("parent", "urn:pulumi:x"),
        ("provider", "p"),
    ],
)
def test_a_plan_that_only_changes_recorded_data_is_not_empty(field: str, value: object) -> None:
    step = same("Namespace", "a")
    step["new"][field] = value

    assert plan(step).empty is False


@pytest.mark.parametrize("operation", ["create", "update", "delete", "replace", "import"])
def test_a_plan_with_any_other_step_is_not_empty(operation: str) -> None:
    assert plan(same("Namespace", "a"), {**same("Namespace", "b"), "op": operation}).empty is False


def test_deleted_and_replaced_objects_are_destructive_and_quoted_by_name() -> None:
    planned = plan(deleted("Namespace", "a"), replaced("Secret", "b", namespace="n"), same("Namespace", "c"))

    assert [(str(loss), loss.replaced) for loss in planned.losses.values()] == [
        ("Namespace a", False),
        ("Secret n/b", True),
    ]


def test_retained_objects_components_and_providers_are_not_destructive() -> None:
    kept = deleted("Secret", "a")
    kept["old"]["retainOnDelete"] = True
    component = deleted("x", "b")
    component["urn"] = "urn:pulumi:laptop::jacquard::jacquard:components:NodePool::b"
    provider = replaced("x", "c")
    provider["urn"] = "urn:pulumi:laptop::jacquard::pulumi:providers:kubernetes::management"

    assert plan(kept, component, provider).losses == {}


def test_properties_read_by_a_refresh_are_not_declared() -> None:
    gone = deleted("Secret", "a")

    planned = plan({**same("Secret", "a"), "op": "refresh"}, gone)

    assert [loss.identity in planned.declared for loss in planned.losses.values()] == [False]
    assert plan({**same("Secret", "a"), "op": "refresh"}, same("Secret", "a")).empty is True


@pytest.mark.parametrize(("applied", "changed"), [(1, False), (3, True)])
def test_after_a_refresh_a_declaration_is_compared_with_the_last_apply(applied: int, changed: bool) -> None:  # noqa: FBT001
    step = replaced("Secret", "a", forced_by=("spec",), before={"spec": 2}, now={"spec": 1})
    live = {**step["old"], "inputs": {**step["old"]["inputs"]}}
    recorded = {**step["old"], "inputs": {**step["old"]["inputs"], "spec": applied}}

    [loss] = plan({**step, "op": "refresh", "old": recorded, "new": live}, step).losses.values()

    assert (loss.recorded["spec"], loss.applied["spec"], loss.changed) == (2, applied, changed)


def test_the_rest_of_an_earlier_replacement_is_no_new_loss() -> None:
    assert plan({**deleted("Secret", "a"), "op": "delete-replaced"}).losses == {}


@pytest.mark.parametrize(
    ("path", "before", "now", "changed"),
    [
        ("metadata.namespace", {}, {}, False),
        ("spec", {"spec": {"a": 1}}, {"spec": {"a": 2}}, True),
        ("spec.a", {"spec": {"a": 1, "b": 1}}, {"spec": {"a": 1, "b": 2}}, False),
        ("spec.list[1].x", {"spec": {"list": [{}, {"x": 1}]}}, {"spec": {"list": [{}, {"x": 2}]}}, True),
        ("spec.list[1]", {"spec": {"list": [1]}}, {"spec": {"list": [1, 2]}}, True),
        ("spec.list[3]", {"spec": {"list": [1]}}, {"spec": {"list": [1, 2]}}, False),
        ('data["a.b"]', {"data": {"a.b": 1}}, {"data": {"a.b": 2}}, True),
        ('data["a.b"]', {"data": {"a.b": 1, "c": 1}}, {"data": {"a.b": 1, "c": 2}}, False),
        ("provider", {"spec": {}}, {"spec": {}}, False),
        ("spec.text.deeper", {"spec": {"text": "a"}}, {"spec": {"text": "b"}}, False),
    ],
)
def test_a_replacement_is_declared_if_its_cause_is(
    path: str, before: dict[str, Any], now: dict[str, Any], *, changed: bool
) -> None:
    [loss] = plan(replaced("Secret", "a", before=before, now=now, forced_by=(path,))).losses.values()

    assert (loss.forced_by, loss.changed) == ((path,), changed)


def test_without_a_cause_all_that_is_declared_is_compared() -> None:
    unchanged = replaced("Secret", "a", forced_by=())
    changed = replaced("Secret", "b", before={"data": {"x": "1"}}, now={"data": {"x": "2"}}, forced_by=())

    assert [loss.changed for loss in plan(unchanged, changed).losses.values()] == [False, True]


def test_properties_that_change_and_force_nothing_are_no_cause() -> None:
    step = replaced("Secret", "a", forced_by=("type",))
    step["detailedDiff"]["data.x"] = {"diffKind": "update", "inputDiff": True}

    [loss] = plan(step).losses.values()

    assert loss.forced_by == ("type",)


def test_an_engine_without_details_still_names_the_cause() -> None:
    step = replaced("Secret", "a") | {"detailedDiff": None, "keys": ["provider"]}

    [loss] = plan(step).losses.values()

    assert loss.forced_by == ("provider",)


def test_an_object_is_identified_by_provider_and_name_for_any_resource_name() -> None:
    planned = plan(deleted("Namespace", "a", urn="old"), same("Namespace", "a", urn="new"), same("Namespace", "b"))

    [loss] = planned.losses.values()

    assert loss.identity in planned.declared
    assert (loss.cluster, len(planned.declared)) == ("management", 2)
