"""Check, Diff and the provider's settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jacquard.providers.objectset.schema import TYPE
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN, encode

KIND = provider_pb2.PropertyDiff
HOST = {
    "apiVersion": "metal3.io/v1alpha1",
    "kind": "BareMetalHost",
    "metadata": {"name": "u01"},
    "spec": {"online": True},
}


def checked(provider: Any, inputs: dict[str, Any], secrets: Any = ()) -> list[tuple[str, str]]:
    response = provider.stub.Check(provider_pb2.CheckRequest(news=encode(inputs, secrets)))
    assert response.inputs == encode(inputs, secrets)
    return [(failure.property, failure.reason) for failure in response.failures]


def diffed(provider: Any, old: dict[str, Any], new: dict[str, Any]) -> Any:
    return provider.stub.Diff(provider_pb2.DiffRequest(old_inputs=encode(old), news=encode(new)))


def rack(**members: Any) -> dict[str, Any]:
    return {"setName": "rack-a01", "namespace": "inventory", "members": members}


def test_good_inputs_pass_unchanged(unconfigured: Any) -> None:
    assert checked(unconfigured, rack(a=HOST)) == []


def test_values_that_are_not_known_yet_pass(unconfigured: Any) -> None:
    unnamed = {**HOST, "metadata": {"name": UNKNOWN}}
    assert checked(unconfigured, rack(a=UNKNOWN, b=unnamed, c=unnamed)) == []
    assert checked(unconfigured, {"setName": UNKNOWN, "namespace": UNKNOWN, "members": UNKNOWN}) == []


def test_every_problem_is_named_at_a_path_that_exists(unconfigured: Any) -> None:
    marks = {"labels": {"applyset.kubernetes.io/part-of": "x"}, "annotations": {"jacquard.dev/member": "x"}}
    labelled = {"name": "u02", "namespace": 7, **marks}
    members = {
        "a": HOST,
        "b": HOST,
        "c": 3,
        "d": {"kind": "", "metadata": {}},
        "e": {**HOST, "metadata": "u05"},
        "rack-1": {**HOST, "metadata": labelled},
    }
    assert checked(unconfigured, {"setName": "Rack", "members": members, "labels": {}}) == [
        ("labels", "is not an input of an ObjectSet; its inputs are setName, namespace, members, patches"),
        ("setName", "setName is 'Rack' but must be an object name: 1 to 63 of a-z, 0-9 and -, no - at either end"),
        ("", "namespace is missing but must be an object name: 1 to 63 of a-z, 0-9 and -, no - at either end"),
        ("members.b", "is BareMetalHost /u01, which is already members['a']; an object can be in a set only once"),
        ("members.c", "member is 3 but must be a complete object with apiVersion, kind and metadata"),
        ("members.d", "apiVersion is missing but must be a text"),
        ("members.d.kind", "kind is '' but must be a text"),
        ("members.d.metadata", "metadata.name is missing but must be a text; names are never generated"),
        ("members.e.metadata", "metadata is 'u05' but must be a map with a name"),
        ('members["rack-1"].metadata.namespace', "metadata.namespace is 7 but must be a text"),
        (
            'members["rack-1"].metadata.labels["applyset.kubernetes.io/part-of"]',
            "is written by the set itself; remove it",
        ),
        (
            'members["rack-1"].metadata.annotations["jacquard.dev/member"]',
            "is written by the set itself; remove it",
        ),
    ]


def test_a_check_does_not_quote_a_secret(unconfigured: Any) -> None:
    inputs = rack(a={**HOST, "metadata": "hunter2"})
    [(_, reason)] = checked(unconfigured, inputs, [("members", "a", "metadata")])
    assert reason == "metadata is '[secret]' but must be a map with a name"


def test_a_credential_in_a_member_is_refused_without_quoting_it(unconfigured: Any) -> None:
    login = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc"}, "stringData": {"password": "hunter2"}}
    spec = {"bmc": {"address": "redfish://admin:hunter2@10.0.0.1/", "Password": "hunter2", "credentialsName": "bmc"}}
    remedy = "let a secret store write it into the cluster and reference it here by name"

    assert checked(unconfigured, rack(a=HOST, b=login, c={**HOST, "metadata": {"name": "u02"}, "spec": spec})) == [
        ("members.b.kind", f"a Secret contains a credential and cannot be a member of a set; {remedy}"),
        ("members.c.spec.bmc.address", f"is an address with credentials; {remedy}"),
        ("members.c.spec.bmc.Password", f"is a credential in clear text; {remedy}"),
    ]


def test_the_same_name_in_two_namespaces_is_no_duplicate(unconfigured: Any) -> None:
    north = {**HOST, "metadata": {"name": "u01", "namespace": "north"}}
    assert checked(unconfigured, rack(a=HOST, b=north)) == []


def test_diff_is_per_member_and_field(unconfigured: Any) -> None:
    off = {**HOST, "spec": {"online": False}}
    old = {**rack(), "members": {"a01-u01": HOST, "a01-u02": HOST, "a01-u03": HOST}}
    new = {**rack(), "members": {"a01-u01": off, "a01-u02": HOST, "a01-u04": HOST}}

    response = diffed(unconfigured, old, new)

    assert {path: (change.kind, change.inputDiff) for path, change in response.detailedDiff.items()} == {
        'members["a01-u01"].spec.online': (KIND.UPDATE, True),
        'members["a01-u03"]': (KIND.DELETE, True),
        'members["a01-u04"]': (KIND.ADD, True),
    }
    assert (list(response.replaces), response.deleteBeforeReplace) == ([], False)
    assert response.changes == provider_pb2.DiffResponse.DIFF_SOME


def test_an_equal_set_has_no_diff(unconfigured: Any) -> None:
    response = diffed(unconfigured, rack(a=HOST), rack(a=HOST))
    assert (response.changes, dict(response.detailedDiff)) == (provider_pb2.DiffResponse.DIFF_NONE, {})


@pytest.mark.parametrize(("key", "old_first"), [("setName", False), ("namespace", True)])
def test_a_set_in_another_place_is_a_new_set_that_adopts_existing_members(
    unconfigured: Any, key: str, *, old_first: bool
) -> None:
    response = diffed(unconfigured, rack(a=HOST), {**rack(a=HOST), key: "other"})
    assert {path: change.kind for path, change in response.detailedDiff.items()} == {key: KIND.UPDATE_REPLACE}
    assert (list(response.replaces), response.deleteBeforeReplace) == ([key], old_first)


def test_settings_name_the_cluster_and_hold_no_credential(unconfigured: Any) -> None:
    settings = {"kubeconfig": "apiVersion: v1\nkind: Config\n", "context": "", "cluster": "x", "version": "0.1.0"}
    response = unconfigured.stub.CheckConfig(provider_pb2.CheckRequest(news=encode(settings)))
    assert sorted((failure.property, failure.reason) for failure in response.failures) == [
        (
            "",
            "clusterIdentifier is missing; it is the name of the cluster, independent of its address",
        ),
        ("cluster", "is not a setting of this provider; its settings are kubeconfig, context, clusterIdentifier"),
        ("context", "context is '' but must be the context of the kubeconfig"),
        ("kubeconfig", "kubeconfig contains a whole file but must be a path, so that the state contains no credential"),
    ]


@pytest.mark.parametrize(
    ("key", "kind"),
    [("kubeconfig", KIND.UPDATE), ("context", KIND.UPDATE), ("clusterIdentifier", KIND.UPDATE_REPLACE)],
)
def test_only_another_identifier_is_another_cluster(unconfigured: Any, key: str, kind: int) -> None:
    old = {"kubeconfig": "/a", "context": "a", "clusterIdentifier": "north"}
    request = provider_pb2.DiffRequest(old_inputs=encode(old), news=encode({**old, key: "other"}))
    response = unconfigured.stub.DiffConfig(request)
    assert {path: change.kind for path, change in response.detailedDiff.items()} == {key: kind}


def test_the_schema_describes_the_resource(unconfigured: Any) -> None:
    schema = json.loads(unconfigured.stub.GetSchema(provider_pb2.GetSchemaRequest()).schema)
    assert schema["resources"][TYPE]["requiredInputs"] == ["setName", "namespace", "members"]
    assert schema["provider"]["requiredInputs"] == ["kubeconfig", "clusterIdentifier"]
