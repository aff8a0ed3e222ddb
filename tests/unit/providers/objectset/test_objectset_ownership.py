"""Ownership of objects: adoption by a set, and rejection."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jacquard.providers.objectset.applyset import PART_OF, TOOLING, applyset_id
from tests.support.engine.racks import rack

SET = applyset_id("rack-a01", "inventory")


def test_create_refuses_every_object_that_exists_before_anything_is_sent(provider: Any, kube: Any) -> None:
    kube.host("u01")
    kube.host("u02", labels={PART_OF: "applyset-other-v1"})

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack("u01", "u02", "u03"))

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BareMetalHost inventory/u01 exists outside any set; delete it, or remove it from this set\n"
        "  BareMetalHost inventory/u02 exists and belongs to applyset-other-v1; delete it, or remove it from this set"
    )
    assert kube.writes() == []


def test_a_large_set_finds_objects_that_exist_by_one_list(provider: Any, kube: Any) -> None:
    kube.host("u007")
    names = [f"u{number:03}" for number in range(80)]

    with pytest.raises(grpc.RpcError, match="BareMetalHost inventory/u007 exists outside any set"):
        provider.create(rack(*names))

    assert len([line for line in kube.log if "baremetalhosts" in line]) == 1


def test_create_refuses_the_parent_of_another_tool(provider: Any, kube: Any) -> None:
    metadata = {"name": "rack-a01", "namespace": "inventory", "annotations": {TOOLING: "kubectl/v1.36"}}
    kube.store(("configmaps", "inventory", "rack-a01"), {"metadata": metadata})

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack("u01"))

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  ConfigMap inventory/rack-a01 is the parent of an ApplySet of 'kubectl/v1.36';"
        " choose another setName or remove it"
    )


def test_a_set_whose_state_was_lost_is_adopted_and_its_orphans_pruned(provider: Any, kube: Any) -> None:
    before = provider.create(rack("u01", "u02", "u03"))

    after = provider.create(rack("u01", "u02"))

    assert after["uids"] == {name: before["uids"][name] for name in ("u01", "u02")}
    assert ("baremetalhosts", "inventory", "u03") not in kube.objects


@pytest.mark.parametrize("preview", [True, False])
def test_create_refuses_the_set_of_another_resource(provider: Any, kube: Any, *, preview: bool) -> None:
    provider.create(rack("u01", "u02"))
    before, maker = dict(kube.objects), provider.urn
    provider.urn = "urn:pulumi:other::toy::jacquard:index:ObjectSet::rack-a01"

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack("u03"), preview=preview)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        f"  ConfigMap inventory/rack-a01 is the parent of the set of {maker}; "
        "choose another setName, or declare that resource as an alias of this resource"
    )
    assert kube.objects == before


def test_a_renamed_resource_keeps_its_set_with_a_new_mark(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack("u01"))
    provider.urn = "urn:pulumi:lab::toy::jacquard:index:ObjectSet::renamed"

    provider.update(rack("u01"), rack("u01", online=True), outputs)

    parent = kube.objects["configmaps", "inventory", "rack-a01"]["metadata"]
    assert parent["annotations"]["jacquard.dev/made-by"] == provider.urn


def test_update_rejects_a_member_that_another_set_has_recreated(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack("u01", "u02"))
    del kube.objects["baremetalhosts", "inventory", "u01"]
    kube.host("u01", labels={PART_OF: "applyset-theirs-v1"})

    with pytest.raises(grpc.RpcError) as error:
        provider.update(rack("u01", "u02"), rack("u01", "u02", online=True), outputs)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BareMetalHost inventory/u01 exists and belongs to applyset-theirs-v1; "
        "delete it, or remove it from this set"
    )


def test_a_terminating_member_is_rejected_until_it_is_deleted(provider: Any, kube: Any) -> None:
    kube.host("u01", labels={PART_OF: SET}, metadata={"deletionTimestamp": "then", "labels": {PART_OF: SET}})

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack("u01"))

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BareMetalHost inventory/u01 is being deleted; run again after its deletion"
    )
    assert kube.writes() == []


def test_update_restores_a_lost_label_of_a_member(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack("u01"))
    kube.objects["baremetalhosts", "inventory", "u01"]["metadata"]["labels"] = {}

    provider.update(rack("u01"), rack("u01", online=True), outputs)

    assert kube.objects["baremetalhosts", "inventory", "u01"]["metadata"]["labels"] == {PART_OF: SET}
