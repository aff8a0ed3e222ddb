"""Objects as inputs and outputs of the provider."""

import pytest

from jacquard.lab.standins.kubernetes.objects import bodies
from jacquard.providers.rpc.values import UNKNOWN, Properties

URN = "urn:pulumi:dev::toy::kubernetes:core/v1:ConfigMap::cm"


@pytest.mark.parametrize(
    ("given", "recorded", "live", "expected", "why"),
    [
        ({"a": "1"}, {"a": "1"}, {"a": "1"}, {"a": "1"}, "nothing moved"),
        ({"a": "1"}, {"a": "1"}, {"a": "2"}, {"a": "2"}, "changed outside"),
        ({"a": "1"}, {"a": "1"}, {"a": "1", "b": "x"}, {"a": "1"}, "added by others"),
        ({"a": "1", "b": "2"}, {"a": "1", "b": "2"}, {"b": "2"}, {"b": "2"}, "removed outside"),
        ({"cpu": "1000m", "x": 1}, {"cpu": "1", "x": 1}, {"cpu": "1", "x": 2}, {"cpu": "1000m", "x": 2}, "canonical"),
        ({"gone": 1, "x": 1}, {"x": 1}, {"x": 2}, {"gone": 1, "x": 2}, "a field the server never kept"),
        (
            [{"n": 1}, {"n": 2}],
            [{"n": 1, "d": 0}, {"n": 2}],
            [{"n": 1, "d": 0}, {"n": 3}],
            [{"n": 1}, {"n": 3}],
            "list",
        ),
        ([1], [1], [1, 2], [1, 2], "a longer list"),
        ({"a": {"b": 1}}, {"a": {"b": 1}}, {"a": "text"}, {"a": "text"}, "another type"),
    ],
)
def test_inputs_only_follow_external_changes(
    given: object, recorded: object, live: object, expected: object, why: str
) -> None:
    assert bodies.overlay(given, recorded, live) == expected, why


def test_outputs_are_the_live_object_without_managed_fields_and_with_its_inputs() -> None:
    live = {"metadata": {"name": "cm", "uid": "u", "managedFields": [{"manager": "m"}]}, "data": {}, "status": {}}
    inputs = {"apiVersion": "v2", "data": {}}
    kept = {
        "metadata": {"name": "cm", "uid": "u"},
        "data": {},
        "status": {},
        "__inputs": inputs,
        "__initialApiVersion": "v2",
        "__fieldManager": "m",
    }

    assert bodies.outputs(live, "m", inputs) == kept
    assert bodies.outputs(live, "m", inputs, {"__initialApiVersion": "v1"}) == {**kept, "__initialApiVersion": "v1"}


def test_a_definition_is_kept_with_underscores() -> None:
    inputs = {"apiVersion": "apiextensions.k8s.io/v1", "spec": {"x-kubernetes-list-type": "map"}}

    kept = bodies.outputs({**inputs, "kind": "CustomResourceDefinition", "metadata": {}}, "m", inputs)

    assert kept["spec"] == kept["__inputs"]["spec"] == {"x_kubernetes_list_type": "map"}


def test_a_planned_create_promises_nothing_that_the_server_decides() -> None:
    dry_run = {"metadata": {"name": "cm", "uid": "fake", "managedFields": []}, "data": {"a": "1"}, "status": {}}

    assert bodies.planned(dry_run, {}, "m") == {
        "metadata": {
            "name": "cm",
            "creationTimestamp": UNKNOWN,
            "generation": UNKNOWN,
            "resourceVersion": UNKNOWN,
            "uid": UNKNOWN,
        },
        "data": {"a": "1"},
        "__fieldManager": "m",
    }


def test_a_planned_update_keeps_the_identity() -> None:
    old = {"metadata": {"name": "cm", "uid": "u", "creationTimestamp": "then", "generation": 1}}

    metadata = bodies.planned({"metadata": {"name": "cm", "uid": "fake"}}, old, "m")["metadata"]

    assert metadata == {
        "name": "cm",
        "creationTimestamp": "then",
        "generation": UNKNOWN,
        "resourceVersion": UNKNOWN,
        "uid": "u",
    }


def test_the_field_manager_is_stable_and_one_per_resource() -> None:
    assert bodies.manager(URN, {}) == bodies.manager(URN, {}) == "pulumi-kubernetes-13f1723d"
    assert bodies.manager(URN + "2", {}) != bodies.manager(URN, {})


def test_the_field_manager_survives_a_renamed_resource() -> None:
    assert bodies.manager(URN, {}, {"__fieldManager": "pulumi-kubernetes-0000aaaa"}) == "pulumi-kubernetes-0000aaaa"


def test_an_annotation_chooses_the_field_manager() -> None:
    body = {"metadata": {"annotations": {"pulumi.com/patchFieldManager": "mine"}}}

    assert bodies.manager(URN, body, {"__fieldManager": "other"}) == "mine"


def test_the_content_of_a_secret_is_secret_however_it_came() -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "data": {"a": "eA=="}, "stringData": {"b": "y"}}

    assert bodies.secret_paths(body, [("stringData", "b")]) == {("data",), ("stringData",)}
    kept = {**body, "__inputs": body}
    both = {("data",), ("stringData",)}
    assert bodies.secret_paths(kept, [("spec",)]) == both | {("spec",)} | {("__inputs", *p) for p in both | {("spec",)}}


def test_secret_texts_are_known_plain_and_in_base64() -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "stringData": {"pw": "geheim"}}

    assert bodies.secret_texts(Properties(body)) == {"geheim", "Z2VoZWlt"}

    coded = {"apiVersion": "v1", "kind": "Secret", "data": {"pw": "Z2VoZWlt", "binary": "//79", "rubbish": "%"}}
    assert {"geheim", "Z2VoZWlt"} <= bodies.secret_texts(Properties(coded))


def test_nulls_are_left_out() -> None:
    assert bodies.without_nulls({"a": None, "b": [{"c": None, "d": 0}]}) == {"b": [{"d": 0}]}


def test_kubectls_copy_of_a_secret_is_secret_and_never_an_input() -> None:
    copy = "kubectl.kubernetes.io/last-applied-configuration"
    annotations = {"mine": "1", copy: '{"data": {"pw": "Z2VoZWlt"}}', "jacquard.dev/made-by": URN}
    live = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "annotations": annotations}}

    assert bodies.secret_paths(live, ()) == {("metadata", "annotations", copy)}
    assert bodies.imported(live)["metadata"] == {"name": "a", "annotations": {"mine": "1"}}


def test_an_imported_object_has_no_input_of_the_server() -> None:
    live = {"kind": "X", "metadata": {"name": "a", "uid": "u", "labels": {"l": "1"}}, "spec": {}, "status": {}}

    assert bodies.imported(live) == {"kind": "X", "metadata": {"name": "a", "labels": {"l": "1"}}, "spec": {}}
