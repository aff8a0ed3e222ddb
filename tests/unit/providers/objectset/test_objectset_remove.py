"""Deletion of members, protection of other objects, and Read."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jacquard.providers.objectset.applyset import MEMBER, PART_OF
from tests.support.engine.racks import host, rack


def live(kube: Any, name: str) -> Any:
    return kube.objects.get(("baremetalhosts", "inventory", name))


def test_a_removed_member_is_deleted_with_preconditions(provider: Any, kube: Any) -> None:
    old = rack("u01", "u02")
    outputs = provider.create(old)
    metadata = live(kube, "u02")["metadata"]

    provider.update(old, rack("u01"), outputs)

    assert live(kube, "u02") is None
    [options] = [body for body in kube.bodies if body and body.get("kind") == "DeleteOptions"]
    assert options["preconditions"] == {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}


@pytest.mark.parametrize(("part", "mark"), [("labels", PART_OF), ("annotations", MEMBER)])
def test_a_removed_member_without_one_of_our_marks_is_kept(provider: Any, kube: Any, part: str, mark: str) -> None:
    old = rack("u01", "u02")
    outputs = provider.create(old)
    del live(kube, "u02")["metadata"][part][mark]

    provider.update(old, rack("u01"), outputs)

    assert live(kube, "u02")
    [line] = provider.engine.lines
    assert line == (
        "removed from the set, but not deleted because they lack its marks: BareMetalHost inventory/u02;"
        " delete them manually"
    )


@pytest.mark.parametrize("preview", [True, False])
def test_hosts_in_use_are_never_pruned_and_the_update_is_rejected(provider: Any, kube: Any, *, preview: bool) -> None:
    old = rack("u01", "u02", "u03", "u04", online=True)
    outputs = provider.create(old)
    live(kube, "u02")["status"] = {"provisioning": {"state": "provisioned"}}
    live(kube, "u03")["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "lab-0"}
    live(kube, "u04")["status"] = {}
    kube.log.clear()

    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, rack("u01", online=False), outputs, preview=preview)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BareMetalHost inventory/u02 is provisioned; release and wipe it first\n"
        "  BareMetalHost inventory/u03 is claimed by lab-0; release and wipe it first\n"
        "  BareMetalHost inventory/u04 is in an unknown state (status.provisioning.state is empty);"
        " wait until its controller reports a state, or delete it manually"
    )
    assert kube.writes() == []


def test_a_bmc_is_never_pruned_while_its_server_is_claimed(provider: Any, kube: Any) -> None:
    def bmc(name: str) -> dict[str, Any]:
        return {"apiVersion": "metal.ironcore.dev/v1alpha1", "kind": "BMC", "metadata": {"name": name}, "spec": {}}

    old = {**rack(), "members": {name: bmc(name) for name in ("u01", "u02", "u03")}}
    outputs = provider.create(old)
    for name, claim, state in (("u02", {"name": "lab-0"}, "Reserved"), ("u03", {}, "Available")):
        spec = {"bmcRef": {"name": name}, "serverClaimRef": claim}
        kube.store(
            ("servers", "", f"{name}-system-0"),
            {"metadata": {"name": f"{name}-system-0"}, "spec": spec, "status": {"state": state}},
        )

    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, {**rack(), "members": {"u01": bmc("u01")}}, outputs)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BMC inventory/u02 has Server u02-system-0, which is claimed by lab-0; release and wipe it first"
    )
    del kube.objects["servers", "", "u02-system-0"]
    provider.update(old, {**rack(), "members": {"u01": bmc("u01")}}, outputs)
    assert [name for plural, _, name in kube.objects if plural == "bmcs"] == ["u01"]


def test_a_member_with_a_finalizer_is_named_and_the_next_run_continues(provider: Any, kube: Any) -> None:
    old = rack("u01", "u02")
    outputs = provider.create(old)
    live(kube, "u02")["metadata"]["finalizers"] = ["baremetalhost.metal3.io"]

    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, rack("u01"), outputs, timeout=0.1)

    failure = provider.failure(error.value)
    assert failure.reasons == [
        "BareMetalHost inventory/u02: is still being deleted after 0.1 s; blocked by baremetalhost.metal3.io"
    ]
    assert failure.outputs.plain["uids"] == {"u01": outputs["uids"]["u01"]}
    assert provider.engine.lines == ["waiting for deletion: BareMetalHost inventory/u02 (baremetalhost.metal3.io)"]

    del kube.objects["baremetalhosts", "inventory", "u02"]
    assert provider.update(old, rack("u01"), outputs)["uids"] == {"u01": outputs["uids"]["u01"]}


def test_delete_removes_members_and_then_the_parent(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02")
    provider.create(inputs)
    kube.log.clear()

    provider.delete(inputs)

    assert kube.objects == {}
    assert kube.writes()[-1] == "DELETE /api/v1/namespaces/inventory/configmaps/rack-a01"


def test_delete_finds_members_that_the_state_has_forgotten(provider: Any, kube: Any) -> None:
    provider.create(rack("u01", "u02"))

    provider.delete({**rack(), "members": {}})

    assert kube.objects == {}


def test_delete_refuses_while_a_host_is_in_use(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02")
    provider.create(inputs)
    live(kube, "u01")["status"] = {"provisioning": {"state": "externally provisioned"}}
    kube.log.clear()

    with pytest.raises(grpc.RpcError) as error:
        provider.delete(inputs)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  BareMetalHost inventory/u01 is externally provisioned; release and wipe it first"
    )
    assert kube.writes() == []


def test_delete_names_blocked_members_and_keeps_the_parent(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02")
    provider.create(inputs)
    live(kube, "u01")["metadata"]["finalizers"] = ["baremetalhost.metal3.io"]

    with pytest.raises(grpc.RpcError) as error:
        provider.delete(inputs, timeout=0.1)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: 1 of 2 members still exist:\n"
        "  BareMetalHost inventory/u01: is still being deleted after 0.1 s; blocked by baremetalhost.metal3.io"
    )
    assert ("configmaps", "inventory", "rack-a01") in kube.objects


def test_refresh_shows_drift_in_declared_fields_only(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02", online=True, description="d")
    outputs = provider.create(inputs)
    live(kube, "u01")["spec"] |= {"online": False, "bootMACAddress": "02:00:00:00:00:01"}
    del live(kube, "u02")["spec"]["description"]

    id_, found, read_outputs = provider.read(inputs, [("members", "u01", "spec", "description")])

    assert id_ == "inventory/rack-a01"
    assert found.plain["members"] == {
        "u01": host("u01", online=False, description="d"),
        "u02": host("u02", online=True),
    }
    assert found.secrets == {("members", "u01", "spec", "description")}
    assert read_outputs == outputs


def test_refresh_drops_a_missing_member(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02")
    outputs = provider.create(inputs)
    del kube.objects["baremetalhosts", "inventory", "u02"]

    _, found, read_outputs = provider.read(inputs)

    assert found.plain == rack("u01")
    assert read_outputs["uids"] == {"u01": outputs["uids"]["u01"]}


def test_refresh_of_a_missing_set_has_no_id(provider: Any) -> None:
    assert provider.read(rack("u01"))[0] == ""


def test_refresh_marks_a_set_without_its_parent_for_repair(provider: Any, kube: Any) -> None:
    inputs = rack("u01")
    outputs = provider.create(inputs)
    del kube.objects["configmaps", "inventory", "rack-a01"]

    with pytest.raises(grpc.RpcError) as error:
        provider.read(inputs)
    provider.update(inputs, inputs, outputs)

    assert provider.failure(error.value).reasons == [
        "ConfigMap inventory/rack-a01, the set's parent, is missing; the next up recreates it"
    ]
    assert ("configmaps", "inventory", "rack-a01") in kube.objects
