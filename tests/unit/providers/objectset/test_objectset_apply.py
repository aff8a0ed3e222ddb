"""Create and Update: requests, their order, rejections and recorded state."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jacquard.providers.objectset.applyset import ID, KINDS, MEMBER, NAMESPACES, PART_OF, TOOLING, applyset_id
from jacquard.providers.rpc.values import UNKNOWN
from tests.support.api_servers.fake_kube import conflict
from tests.support.engine.racks import host, rack

SET = applyset_id("rack-a01", "inventory")
CONFLICT = conflict((".spec.online", "argocd"))


def applied(kube: Any) -> list[str]:
    """Return the names of written objects, the parent first, members in order."""
    names = [line.partition("?")[0].rpartition("/")[2] for line in kube.writes()]
    return names[:1] + sorted(names[1:])


def test_applyset_id_follows_the_kep() -> None:
    # printf 'rack-a01.inventory.ConfigMap.' | sha256sum, base64url without padding
    assert SET == "applyset-6issV3GurpsP4hLG8B9jqWiSaTxRTIbXQt11Lg6sEp8-v1"


def test_create_writes_the_parent_first_and_labels_every_member(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack("u01", "u02", online=True))

    assert kube.writes()[0].startswith("PATCH /api/v1/namespaces/inventory/configmaps/rack-a01")
    parent = kube.objects["configmaps", "inventory", "rack-a01"]["metadata"]
    assert parent["labels"] == {ID: SET}
    assert parent["annotations"] == {
        TOOLING: "jacquard/v1",
        KINDS: "BareMetalHost.metal3.io",
        "jacquard.dev/made-by": provider.urn,
    }
    marks = kube.objects["baremetalhosts", "inventory", "u01"]["metadata"]
    assert (marks["labels"], marks["annotations"]) == ({PART_OF: SET}, {MEMBER: "u01"})
    uids = {name: kube.objects["baremetalhosts", "inventory", name]["metadata"]["uid"] for name in ("u01", "u02")}
    assert outputs == {"setName": "rack-a01", "namespace": "inventory", "cluster": "cluster-1", "uids": uids}


def test_members_are_applied_strictly_under_our_own_manager_without_force(provider: Any, kube: Any) -> None:
    provider.create(rack("u01"))

    [line] = [line for line in kube.writes() if "baremetalhosts" in line]
    assert line.partition("?")[2] == "fieldManager=jacquard-objectset&fieldValidation=Strict"


def test_preview_changes_nothing_and_knows_no_uid(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack("u01"), preview=True)

    assert outputs["uids"] == {"u01": UNKNOWN}
    assert kube.writes() == []
    assert [line for line in kube.log if "dryRun=All" in line]


def test_preview_passes_while_the_namespace_or_the_kind_is_still_to_come(provider: Any, kube: Any) -> None:
    kube.kinds = {}
    kube.namespaces = set()

    provider.create(rack("u01", "u02"), preview=True)
    kube.kinds = {"baremetalhosts": "BareMetalHost"}
    provider.create(rack("u01", "u02"), preview=True)

    assert provider.engine.lines == ["2 of 2 objects not checked: their kind or namespace does not exist yet"] * 2


def test_preview_names_every_object_the_server_would_refuse(provider: Any, kube: Any) -> None:
    kube.refused["u02"] = CONFLICT
    inputs = rack("u01", "u02", "u03")
    inputs["members"]["u01"]["spec"] = {"onlin": True}

    with pytest.raises(grpc.RpcError) as error:
        provider.create(inputs, preview=True)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BareMetalHost inventory/u01: .spec.onlin is not declared in the schema of this kind;"
        " correct or remove the field\n"
        "  BareMetalHost inventory/u02: fields belong to other managers: .spec.online ('argocd');"
        " remove them from the program or from that manager,"
        " or take them over in one run with JACQUARD_TAKE_FIELDS_FROM=argocd"
    )


def test_a_preview_of_unknown_members_warns_of_no_stray(provider: Any) -> None:
    outputs = provider.create(rack("u01", "u02"))
    later = rack("u01", "u02")
    later["members"]["u02"]["metadata"]["name"] = UNKNOWN

    provider.update(rack("u01", "u02"), later, outputs, preview=True)

    assert provider.engine.lines == []


def test_a_partial_create_records_existing_members_and_the_next_run_continues(provider: Any, kube: Any) -> None:
    broken = rack("u01", "u02")
    broken["members"]["u02"]["spec"] = {"onlin": True}

    with pytest.raises(grpc.RpcError) as error:
        provider.create(broken)

    failure = provider.failure(error.value)
    assert failure.text == "ObjectSet inventory/rack-a01: 1 problem(s); the next run continues from here"
    [reason] = failure.reasons
    assert reason == (
        "BareMetalHost inventory/u02: .spec.onlin is not declared in the schema of this kind;"
        " correct or remove the field"
    )
    assert list(failure.outputs.plain["uids"]) == ["u01"]
    assert applied(kube) == ["rack-a01", "u01", "u02"]

    kube.log.clear()
    outputs = provider.update(broken, rack("u01", "u02"), failure.outputs.plain)
    assert sorted(outputs["uids"]) == ["u01", "u02"]
    assert applied(kube) == ["u02"]


def test_a_partial_update_is_repaired_even_if_the_program_is_reverted(provider: Any, kube: Any) -> None:
    old = rack("u01", "u02", "u03", online=True)
    outputs = provider.create(old)
    kube.refused["u01"] = CONFLICT
    new = {**rack("u01", "u02", online=False), "namespace": "inventory"}
    new["members"]["u04"] = host("u04")

    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, new, outputs)

    failure = provider.failure(error.value)
    assert failure.outputs.plain["uids"] == {}
    assert kube.objects["baremetalhosts", "inventory", "u02"]["spec"] == {"online": False}
    assert ("baremetalhosts", "inventory", "u03") in kube.objects

    kube.refused.clear()
    back = provider.update(old, old, failure.outputs.plain)  # After a failed update the engine keeps the old inputs.
    assert back == outputs
    assert kube.objects["baremetalhosts", "inventory", "u02"]["spec"] == {"online": True}
    assert ("baremetalhosts", "inventory", "u04") not in kube.objects


def test_update_only_sends_changes(provider: Any, kube: Any) -> None:
    old = rack("u01", "u02", online=True)
    outputs = provider.create(old)
    new = rack("u01", "u02", online=True)
    new["members"]["u02"]["spec"]["online"] = False
    kube.log.clear()

    assert provider.update(old, new, outputs) == outputs
    assert [line.partition("?")[0].rpartition("/")[2] for line in kube.writes()] == ["u02"]


def test_a_renamed_key_touches_no_object(provider: Any, kube: Any) -> None:
    old = rack("u01")
    outputs = provider.create(old)
    new = {**old, "members": {"first": old["members"]["u01"]}}
    kube.log.clear()

    assert provider.update(old, new, outputs)["uids"] == {"first": outputs["uids"]["u01"]}
    assert kube.writes() == []


def test_the_parent_is_widened_before_members_move_and_narrowed_after_the_prune(provider: Any, kube: Any) -> None:
    kube.namespaces.add("north")
    old = rack("u01")
    outputs = provider.create(old)
    kube.log.clear()
    both = {**old, "members": {**old["members"], "u02": host("u02", "north")}}
    outputs = provider.update(old, both, outputs)
    assert [line.partition("?")[0].rpartition("/")[2] for line in kube.writes()] == ["rack-a01", "u02"]
    assert kube.objects["configmaps", "inventory", "rack-a01"]["metadata"]["annotations"][NAMESPACES] == "north"

    kube.log.clear()
    provider.update(both, old, outputs)
    assert [line.partition("?")[0].rpartition("/")[2] for line in kube.writes()] == ["u02", "rack-a01"]
    assert NAMESPACES not in kube.objects["configmaps", "inventory", "rack-a01"]["metadata"]["annotations"]


def test_a_missing_namespace_fails_with_the_servers_message(provider: Any) -> None:
    with pytest.raises(grpc.RpcError) as error:
        provider.create({**rack("u01"), "namespace": "nowhere"})

    assert provider.failure(error.value).text == (
        'ConfigMap nowhere/rack-a01: namespaces "nowhere" not found (404 NotFound)'
    )


def test_cancelled_work_is_not_begun_and_the_next_run_does_it(provider: Any, kube: Any, monkeypatch: Any) -> None:
    store = kube.store

    def cancel_after_first_member(key: Any, body: Any) -> Any:
        if body["kind"] == "BareMetalHost":
            provider.servicer.cancel()
        return store(key, body)

    monkeypatch.setattr(kube, "store", cancel_after_first_member)
    names = [f"u{number:02}" for number in range(40)]
    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack(*names))

    failure = provider.failure(error.value)
    done = sorted(failure.outputs.plain["uids"])
    assert done == sorted(name for plural, _, name in kube.objects if plural == "baremetalhosts")
    assert failure.reasons == [f"{40 - len(done)} objects not started because the run was cancelled"]


def test_secrets_reach_the_cluster_and_stay_out_of_errors(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02", description="hunter2")
    kube.refused["u02"] = (422, {"reason": "Invalid", "message": 'description: Invalid value: "hunter2"'})

    with pytest.raises(grpc.RpcError) as error:
        provider.create(inputs, secrets=[("members", "u01", "spec", "description")])

    failure = provider.failure(error.value)
    assert failure.reasons == ['BareMetalHost inventory/u02: description: Invalid value: "[secret]" (422 Invalid)']
    assert kube.objects["baremetalhosts", "inventory", "u01"]["spec"] == {"description": "hunter2"}
    assert not any("hunter2" in line for line in provider.engine.lines)


def test_a_preview_without_a_kubeconfig_warns_and_an_apply_fails(unconfigured: Any, tmp_path: Any) -> None:
    path = tmp_path / "later.yaml"
    unconfigured.configure(kubeconfig=str(path), clusterIdentifier="north")
    why = f"{path}: does not exist; the cluster does not exist yet, or was not created from this machine"

    patch = {"apiVersion": "v1", "kind": "ConfigMap", "names": ["a", "b"], "fields": {"data": {}}}

    unconfigured.create({**rack("u01"), "patches": {"maps": patch}}, preview=True)
    with pytest.raises(grpc.RpcError) as error:
        unconfigured.create(rack("u01"))

    assert unconfigured.engine.lines == [f"3 objects not checked: {why}"]
    assert unconfigured.failure(error.value).text == why
