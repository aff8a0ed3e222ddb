"""Properties in the protocol, their paths and their differences."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given, settings
from hypothesis import strategies as st

from jacquard.providers.rpc.diff import Change, ChangeKind, changes, diff_response
from jacquard.providers.rpc.paths import covered, look_up, render
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import OUTPUT, RESOURCE, SECRET, SIGNATURE, UNKNOWN, decode, encode, mask

KIND = provider_pb2.PropertyDiff
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), JSON))
def test_plain_data_survives_the_wire(plain: dict[str, Any]) -> None:
    assert decode(encode(plain)).plain == plain


def test_secrets_are_unwrapped_remembered_and_marked_again() -> None:
    plain = {"data": {"password": "x", "user": "u"}, "list": [{"key": "k"}, {"key": "l"}], "all": {"a": {"b": 1}}}
    paths = {("data", "password"), ("list", 1, "key"), ("all",)}

    wire = encode(plain, paths)
    found = decode(wire)

    assert wire.fields["data"].struct_value.fields["password"].struct_value.fields[SIGNATURE].string_value == SECRET
    assert (found.plain, found.secrets) == (plain, paths)
    assert encode(found.plain, found.secrets) == wire


def test_paths_of_secrets_that_lead_nowhere_are_ignored() -> None:
    assert encode({"a": [1]}, [("b",), ("a", 7), ("a", 0, "x")]) == encode({"a": [1]})


def test_only_the_topmost_secret_is_remembered() -> None:
    inner = encode({"a": "x"}, [("a",)])
    wire = Struct()
    wire.fields["top"].struct_value.fields[SIGNATURE].string_value = SECRET
    wire.fields["top"].struct_value.fields["value"].struct_value.CopyFrom(inner)
    found = decode(wire)
    assert (found.plain, found.secrets) == ({"top": {"a": "x"}}, {("top",)})


def test_unknowns_of_every_type_are_found_and_sent_again() -> None:
    texts = ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"]
    found = decode(encode({"a": texts, "b": {"c": UNKNOWN}}))
    assert found.plain == {"a": [UNKNOWN, UNKNOWN], "b": {"c": UNKNOWN}}
    assert found.unknowns == {("a", 0), ("a", 1), ("b", "c")}


def test_output_values_and_references_are_opened() -> None:
    wire = Struct()
    wire["known"] = {SIGNATURE: OUTPUT, "value": "v", "secret": True}
    wire["unknown"] = {SIGNATURE: OUTPUT}
    wire["reference"] = {SIGNATURE: RESOURCE, "urn": "urn:x", "id": "i"}
    found = decode(wire)
    assert found.plain == {"known": "v", "unknown": UNKNOWN, "reference": "i"}
    assert (found.secrets, found.unknowns) == ({("known",)}, {("unknown",)})


def test_whole_numbers_are_integers_as_kubernetes_requires() -> None:
    found = decode(encode({"replicas": 3.0, "share": 0.5, "flag": True}))
    assert repr(dict(sorted(found.plain.items()))) == "{'flag': True, 'replicas': 3, 'share': 0.5}"


def test_non_json_values_are_rejected() -> None:
    with pytest.raises(TypeError, match="cannot send a set to the engine; use plain JSON data"):
        encode({"a": {1}})


def test_a_representation_shows_no_value() -> None:
    assert "hunter2" not in repr(decode(encode({"a": "hunter2"}, [("a",)])))


def test_masking_removes_every_form_of_a_secret() -> None:
    found = decode(
        encode({"a": {"b": "hunter2"}, "c": 'two\nlines"', "d": True, "e": 4711}, [("a",), ("c",), ("d",), ("e",)])
    )
    text = 'hunter2, "two\\nlines\\"", two\nlines", 4711, True'
    assert found.mask(text) == '[secret], "[secret]", [secret], [secret], True'
    assert mask("abc", ["b", "abc"]) == "[secret]"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("spec", "a", "b-c", 0), 'spec.a["b-c"][0]'),
        (("a.b/c",), '["a.b/c"]'),
        (("members", 'say "hi"'), 'members["say \\"hi\\""]'),
        ((), ""),
    ],
)
def test_paths_are_written_as_pulumi_does(path: Any, text: str) -> None:
    assert render(path) == text


def test_paths_resolve_to_values_and_cover_nested_ones() -> None:
    assert look_up({"a": [{"b": 1}]}, ("a", 0, "b")) == 1
    for path in (("a", 1), ("a", "0"), ("b",), ("a", 0, "b", "c")):
        with pytest.raises(LookupError):
            look_up({"a": [{"b": 1}]}, path)
    assert covered(("a", 0, "b"), [("a", 0)])
    assert not covered(("a",), [("a", 0)])


def test_differences_are_found_by_key_and_by_position() -> None:
    old = {"same": 1, "gone": 1, "deep": {"x": 1}, "list": [1, 2, 3], "type": 1, "number": 1}
    new = {"same": 1, "new": 1, "deep": {"x": 2}, "list": [1, 9], "type": True, "number": 1.0, "later": UNKNOWN}
    assert changes(old, new) == [
        Change(("new",), ChangeKind.ADD),
        Change(("deep", "x"), ChangeKind.UPDATE),
        Change(("list", 1), ChangeKind.UPDATE),
        Change(("list", 2), ChangeKind.DELETE),
        Change(("type",), ChangeKind.UPDATE),
        Change(("later",), ChangeKind.ADD),
        Change(("gone",), ChangeKind.DELETE),
    ]


@settings(max_examples=50, deadline=None)
@given(JSON)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert changes(value, value) == []


def test_a_response_names_properties_that_force_a_replacement() -> None:
    found = changes({"metadata": {"name": "a"}, "data": {"k-1": 1}}, {"metadata": {"name": "b"}, "data": {"k-1": 2}})

    response = diff_response(found, replaces=lambda change: change.path[0] == "metadata", delete_before_replace=True)

    kinds = {path: change.kind for path, change in response.detailedDiff.items()}
    assert kinds == {"metadata.name": KIND.UPDATE_REPLACE, 'data["k-1"]': KIND.UPDATE}
    assert (list(response.replaces), list(response.diffs)) == (["metadata.name"], ["metadata", "data"])
    assert response.deleteBeforeReplace
    assert not diff_response([], delete_before_replace=True).deleteBeforeReplace
