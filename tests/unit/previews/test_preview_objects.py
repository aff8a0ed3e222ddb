"""Engine steps as changes of objects: grouped by reason, merged if alike, and without secrets."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from components.render.manifest import Manifest
from jacquard.engine.steps import Step
from jacquard.engine.urns import Urn
from jacquard.previews.objects import Declared, object_changes
from jacquard.previews.preview import ObjectChange, Operation, Origin
from jacquard.previews.secrets import SECRET, Secrets

CANARY = "c4nary-value"
Body = Mapping[str, Any]


def body(kind: str = "ConfigMap", name: str = "a", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "n", **rest.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **rest}


def step(there: Body, declared: Body, operation: str = "update", kind: str = "ConfigMap", **rest: Any) -> Step:
    urn = Urn(f"urn:pulumi:laptop::jacquard::kubernetes:core/v1:{kind}::{there or declared}")
    fields: dict[str, Any] = {"differing": (), "forced_by": (), "cluster": "management", **rest}
    return Step(urn=urn, operation=operation, there=there, declared=declared, **fields)


def found(*steps: Step, drift: tuple[Step, ...] = (), base: tuple[Body, ...] = (), head: tuple[Body, ...] = ()) -> Any:
    declared = Declared((Manifest(body=one) for one in base), (Manifest(body=one) for one in head))
    secrets = Secrets.of([one for step in (*steps, *drift) for one in (step.there, step.declared)])
    return object_changes(steps, drift, declared, secrets)


def reported(change: ObjectChange) -> tuple[str, str, list[tuple[str, str | None, str | None]]]:
    return change.operation, change.origin, [(one.path, one.old, one.new) for one in change.fields]


ONE, TWO = body(data={"x": "1", "y": "1"}), body(data={"x": "2", "y": "2"})
HALF = body(data={"x": "2", "y": "1"})


@pytest.mark.parametrize(
    ("there", "declared", "operation", "base", "head", "expected"),
    [
        ({}, ONE, "create", (), (ONE,), [("create", "change", [])]),
        ({}, ONE, "create", (ONE,), (ONE,), [("create", "earlier", [])]),
        (ONE, {}, "delete", (ONE,), (), [("delete", "change", [])]),
        (ONE, {}, "delete", (), (), [("delete", "earlier", [])]),
        (ONE, {}, "retain", (ONE,), (), [("retain", "change", [])]),
        (ONE, HALF, "update", (ONE,), (HALF,), [("update", "change", [("data.x", '"1"', '"2"')])]),
        (ONE, HALF, "update", (HALF,), (HALF,), [("update", "earlier", [("data.x", '"1"', '"2"')])]),
        (
            ONE,
            TWO,
            "update",
            (body(data={"x": "1", "y": "2"}),),
            (TWO,),
            [("update", "change", [("data.x", '"1"', '"2"')]), ("update", "earlier", [("data.y", '"1"', '"2"')])],
        ),
    ],
)
def test_the_reasons_of_a_change_are_shown_by_field(
    there: Body, declared: Body, operation: str, base: tuple[Body, ...], head: tuple[Body, ...], expected: list[Any]
) -> None:
    assert [reported(one) for one in found(step(there, declared, operation), base=base, head=head)] == expected


def test_drift_is_shown_as_its_revert_independent_of_the_change() -> None:
    changes = found(step(ONE, HALF), drift=(step(TWO, ONE),), base=(ONE,), head=(HALF,))

    assert [reported(one) for one in changes] == [
        ("update", "change", [("data.x", '"1"', '"2"')]),
        ("update", "drift", [("data.x", '"2"', '"1"'), ("data.y", '"2"', '"1"')]),
    ]


def test_list_entries_are_shown_by_name() -> None:
    was = body(spec={"taints": [{"name": "a", "v": 1}, {"name": "b", "v": 1}]})
    will = body(spec={"taints": [{"name": "b", "v": 2}]})
    [change] = found(step(was, will), base=(was,), head=(will,))

    assert [one.path for one in change.fields] == ["spec.taints.a.name", "spec.taints.a.v", "spec.taints.b.v"]


def test_the_same_change_of_many_hosts_is_one_with_all_their_names() -> None:
    def rack(online: bool) -> Body:  # noqa: FBT001
        hosts = {f"h{number}": body("BareMetalHost", f"h{number}", spec={"online": online}) for number in range(1184)}
        return {"setName": "rack", "namespace": "n", "members": hosts}

    [change] = found(step(rack(online=True), rack(online=False), kind="ObjectSet"))

    assert len(change.names) == 1184
    assert change.kind == "BareMetalHost"
    assert reported(change) == ("update", "earlier", [("spec.online", "true", "false")])


def test_members_of_a_set_are_added_and_removed_individually_and_patches_are_objects_too() -> None:
    patch = {"apiVersion": "v1", "kind": "Firmware", "namespace": "n", "names": ["p"], "fields": {"spec": {"v": 1}}}
    nowhere = {"apiVersion": "v1", "kind": "Profile", "names": ["q"], "fields": {"spec": {}}, "madeOf": "a"}
    was = {"members": {"a": body(name="a"), "b": body(name="b")}, "patches": {}}
    will = {"members": {"b": body(name="b"), "c": body(name="c")}, "patches": {"x": patch, "y": nowhere}}
    changes = found(step(was, will, kind="ObjectSet"))

    assert [(one.operation, one.kind, one.names) for one in changes] == [
        (Operation.DELETE, "ConfigMap", ("management/n/a",)),
        (Operation.CREATE, "ConfigMap", ("management/n/c",)),
        (Operation.CREATE, "Firmware", ("management/n/p",)),
        (Operation.CREATE, "Profile", ("management/q",)),
    ]


def test_a_replacement_names_its_cause_and_follows_deletions() -> None:
    changes = found(step(ONE, TWO), step(HALF, ONE, "replace", forced_by=("data.x",)))

    assert [(one.operation, one.forced_by) for one in changes] == [
        (Operation.REPLACE, ("data.x",)),
        (Operation.UPDATE, ()),
    ]


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ENCODED = base64.b64encode(CANARY.encode()).decode()


@pytest.mark.parametrize(
    "holder",
    [
        body("Secret", data={"k": ENCODED}),
        body("Secret", stringData={"k": CANARY}),
        body("Secret", metadata={"annotations": {LAST_APPLIED: CANARY}}),
        body(metadata={"annotations": {LAST_APPLIED: f'{{"stringData": "{CANARY}"}}'}}),
        body(metadata={"annotations": {"example.com/token": CANARY}}),
        body(spec={"env": [{"name": "DB_PASSWORD", "value": CANARY}]}),
        body(spec={"command": ["serve", "--password", CANARY]}),
        body(spec={"command": [f"serve --api-key={CANARY}"]}),
        body(spec={"url": f"https://user:{CANARY}@registry.example/x"}),
        body(spec={"config": f"password: {CANARY}\nuser: me"}),
        body(spec={"key": {"4dabf18193072939515e22adb298388d": "x", "plaintext": CANARY}}),
    ],
)
@pytest.mark.parametrize("gone", [True, False])
def test_no_old_or_new_secret_is_shown_anywhere(holder: Body, gone: bool) -> None:  # noqa: FBT001
    plain = body(str(holder["kind"]), spec={"url": "none"})
    sides = (holder, plain) if gone else (plain, holder)
    [change] = found(step(*sides), base=(sides[0],), head=(sides[1],))

    text = change.model_dump_json()
    assert SECRET in text
    assert CANARY not in text
    assert ENCODED not in text


def test_the_content_of_a_secret_is_masked_in_error_texts_too() -> None:
    secrets = Secrets.of([body("Secret", data={"k": ENCODED})])

    assert (
        secrets.mask(f"admission refused {CANARY}, that is {ENCODED}")
        == f"admission refused {SECRET}, that is {SECRET}"
    )


def test_names_of_secrets_are_shown() -> None:
    was, will = (body(spec={"credentialsRef": {"name": name}, "bmcSecretRef": name}) for name in ("one", "two"))
    [change] = found(step(was, will), base=(was,), head=(will,))

    assert [(one.old, one.new) for one in change.fields] == [('"one"', '"two"'), ('"one"', '"two"')]


def test_differences_known_to_the_engine_only_are_named_without_a_value() -> None:
    [change] = found(step(ONE, ONE, differing=("data.x",)))

    assert reported(change) == ("update", Origin.EARLIER, [("data.x", SECRET, SECRET)])
