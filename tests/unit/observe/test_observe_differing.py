"""Differences between a live object and its declaration, and their owners, from managed fields."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from components.render.region.engine.engine import UNSET_COMMIT
from jacquard.observe.differing import Compared, compared, is_ours
from jacquard.observe.drift import By
from jacquard.providers.kube import ApiError
from tests.support.objects.live_objects import obj

Object = dict[str, Any]
MINE = {"f:spec": {"f:online": {}, "f:cpu": {}}, "f:metadata": {"f:labels": {"f:a.b/c": {}}}}
DECLARED = obj("metal3.io/v1alpha1", "BareMetalHost", "h", {"online": True, "cpu": "1000m"})


def entry(manager: str, fields: Object, operation: str = "Update", **more: Any) -> Object:
    return {"manager": manager, "operation": operation, "time": "2026-11-22T16:00:00Z", "fieldsV1": fields, **more}


def live(spec: Object, *entries: Object, **metadata: Any) -> Object:
    body = copy.deepcopy(DECLARED) | {"spec": spec, "status": {"phase": "x"}}
    body["metadata"] |= {"uid": "u", "managedFields": list(entries), **metadata}
    return body


def server(body: Object, there: Object) -> Object:
    """Return the result of an apply by an API server: normalised quantities, and other known fields kept."""
    spec = {**there["spec"], **body["spec"]}
    return {**there, "spec": spec | ({"cpu": "1"} if spec.get("cpu") == "1000m" else {})}


def look(there: Object, declared: Object = DECLARED) -> list[tuple[Any, ...]]:
    found = compared(declared, there, "jacquard", lambda body: server(body, there))
    assert found.unsure is None
    return [(one.path, one.declared, one.live, one.by, one.manager) for one in found.fields]


OURS = entry("jacquard", MINE, "Apply")
EDIT = entry("kubectl-edit", {"f:spec": {"f:online": {}}})


def test_normalised_values_of_the_server_are_equal() -> None:
    assert look(live({"online": True, "cpu": "1"}, OURS)) == []


def test_a_value_that_a_person_changed_is_by_hand_with_its_moment() -> None:
    there = live({"online": False, "cpu": "1"}, OURS, EDIT)

    assert look(there) == [("spec.online", "true", "false", By.HAND, "kubectl-edit")]
    [field] = compared(DECLARED, there, "jacquard", lambda body: server(body, there)).fields
    assert field.since is not None
    assert field.since.isoformat() == "2026-11-22T16:00:00+00:00"


def test_a_reverted_manual_change_is_no_difference() -> None:
    assert look(live({"online": True, "cpu": "1"}, OURS, EDIT)) == []


@pytest.mark.parametrize(
    ("entries", "by", "manager"),
    [
        ([entry("manager", {"f:spec": {"f:online": {}}})], By.OTHER, "manager"),
        ([OURS], By.OURS, "jacquard"),
        ([entry("pulumi-kubernetes", {"f:spec": {"f:online": {}}})], By.OURS, "pulumi-kubernetes"),
        ([OURS, entry("manager", {"f:spec": {"f:online": {}}})], By.OTHER, "manager"),
        ([], By.NOBODY, None),
        ([entry("manager", {"f:status": {}}, subresource="status")], By.NOBODY, None),
    ],
)
def test_the_owner_of_a_value_is_reported(entries: list[Object], by: By, manager: str | None) -> None:
    assert look(live({"online": False, "cpu": "1"}, *entries)) == [("spec.online", "true", "false", by, manager)]


def test_a_removed_value_has_no_owner() -> None:
    assert look(live({"cpu": "1"}, OURS)) == [("spec.online", "true", None, By.NOBODY, None)]


def test_manual_additions_are_reported_and_those_of_controllers_are_not() -> None:
    added = entry("kubectl-patch", {"f:spec": {"f:paused": {}, "f:deep": {".": {}, "f:x": {}}}})
    other = entry("manager", {"f:spec": {"f:consumerRef": {}}})
    spec = {"online": True, "cpu": "1", "paused": True, "deep": {"x": 1}, "consumerRef": {"name": "m"}}

    assert look(live(spec, OURS, added, other)) == [
        ("spec.paused", None, "true", By.HAND, "kubectl-patch"),
        ("spec.deep.x", None, "1", By.HAND, "kubectl-patch"),
    ]


def test_applied_fields_that_are_no_longer_declared_are_pending_changes() -> None:
    there = live({"online": True, "cpu": "1", "old": 1}, entry("jacquard", {"f:spec": {"f:old": {}}}, "Apply"))

    def attempt(body: Object) -> Object:
        after = server(body, there)
        del after["spec"]["old"]
        return after

    [field] = compared(DECLARED, there, "jacquard", attempt).fields
    assert (field.path, field.declared, field.live, field.by) == ("spec.old", None, "1", By.OURS)


def test_marks_of_field_managers_are_no_drift() -> None:
    marks = {
        "labels": {"applyset.kubernetes.io/part-of": "set"},
        "annotations": {"jacquard.dev/made-by": "urn", "pulumi.com/waitFor": "condition=Ready"},
    }
    owned = {"f:metadata": {f"f:{part}": {f"f:{name}": {} for name in values} for part, values in marks.items()}}

    assert look(live({"online": True, "cpu": "1"}, entry("jacquard", owned, "Apply"), **marks)) == []


def test_kubectls_own_note_is_no_drift() -> None:
    note = {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}
    there = live(
        {"online": True, "cpu": "1"},
        entry("kubectl-client-side-apply", note),
        annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    )

    assert look(there) == []


def test_entries_of_lists_are_found_by_their_keys() -> None:
    ports = {"f:spec": {"f:ports": {'k:{"name":"b"}': {".": {}, "f:name": {}, "f:port": {}}}}}
    declared = obj("v1", "Service", "s", {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]})
    there = copy.deepcopy(declared)
    there["spec"]["ports"][1]["port"] = 3
    there["metadata"]["managedFields"] = [entry("kubectl-edit", ports)]

    assert look(there, declared) == [("spec.ports.1.port", "2", "3", By.HAND, "kubectl-edit")]


def refuse(_: Object) -> Object:
    raise ApiError(403, "Forbidden", "hosts is forbidden: token abc")


def test_without_permission_for_dry_runs_declared_values_are_compared() -> None:
    assert compared(DECLARED, live({"online": True, "cpu": "1", "more": []}, OURS), "jacquard", refuse) == Compared(
        fields=compared(DECLARED, live({"online": True, "cpu": "1"}, OURS), "jacquard", refuse).fields,
        unsure="the API server could not evaluate the apply: 403 Forbidden",
    )
    found = compared(DECLARED, live({"online": False, "cpu": "1000m"}, OURS, EDIT), "jacquard", refuse)
    assert [(one.path, one.by) for one in found.fields] == [("spec.online", By.HAND)]


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("Secret", "data", {"k": "hunter2"}),
        ("BareMetalHost", "spec", {"bmcPassword": "hunter2"}),
        ("BareMetalHost", "spec", {"env": [{"name": "ADMIN_TOKEN", "value": "hunter2"}]}),
        ("BareMetalHost", "spec", {"deep": {"x": [{"credential": {"y": "hunter2"}}]}}),
    ],
)
def test_secrets_are_reported_as_present_and_never_shown(kind: str, path: str, value: Object) -> None:
    declared = obj("v1", kind, "s") | {path: {"a": 1}}
    there = obj("v1", kind, "s") | {path: value}
    there["metadata"]["managedFields"] = [entry("kubectl-edit", {f"f:{path}": {f"f:{key}": {} for key in value}})]

    found = compared(declared, there, "jacquard", lambda body: {**there, path: {**value, **body[path]}})

    assert len(found.fields) == 2
    assert "hunter2" not in repr(found)
    assert "[secret]" in repr(found)


def test_long_values_are_reported_by_their_length() -> None:
    there = live({"online": "x" * 500, "cpu": "1"}, OURS)

    assert look(there) == [("spec.online", "true", "(502 characters)", By.OURS, "jacquard")]


@pytest.mark.parametrize("broken", [None, [], [{"manager": "x"}], [{"manager": "x", "fieldsV1": None}]])
def test_an_object_without_a_record_of_its_writes_is_compared(broken: Any) -> None:
    there = live({"online": False, "cpu": "1"})
    there["metadata"]["managedFields"] = broken

    assert look(there) == [("spec.online", "true", "false", By.NOBODY, None)]


@pytest.mark.parametrize(
    ("manager", "annotations", "ours"),
    [
        ("jacquard", {"jacquard.dev/made-by": "urn"}, True),
        ("jacquard-objectset", {"jacquard.dev/member": "a01"}, True),
        ("helm", {"jacquard.dev/made-by": "urn"}, False),
        ("jacquard", {}, False),
    ],
)
def test_applied_and_marked_fields_are_ours(manager: str, annotations: dict[str, str], ours: bool) -> None:  # noqa: FBT001 - a case
    assert is_ours(live({}, entry(manager, MINE, "Apply"), annotations=annotations)) is ours


def test_the_commit_of_a_slice_is_no_difference() -> None:
    fields = {"stack": "one.tenant-acme", "projectRepo": "https://git.cloud.example/regions"}
    declared = obj("pulumi.com/v1", "Stack", "tenant-acme", {**fields, "commit": UNSET_COMMIT})
    ours = entry("jacquard", {"f:spec": {"f:stack": {}, "f:projectRepo": {}, "f:commit": {}}}, "Apply")

    def there(**changed: str) -> Object:
        return {**live({**fields, "commit": "5" * 40, **changed}, ours), "kind": "Stack"}

    assert look(there(), declared) == []
    assert [path for path, *_ in look(there(projectRepo="https://other.example/regions"), declared)] == [
        "spec.projectRepo"
    ]
