"""Hosts that move between namespaces or sets: never deleted and recreated while they are in use."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jacquard.providers.objectset import handover
from jacquard.providers.objectset.applyset import ID, MEMBER, PART_OF, TOOLING, applyset_id
from jacquard.providers.objectset.handover import Announcements
from jacquard.providers.objectset.inputs import ObjectSet

OLD, NEW = applyset_id("rack-a01", "inventory"), applyset_id("rack-b01", "inventory")
NEW_URN = "urn:pulumi:lab::toy::jacquard:index:ObjectSet::rack-b01"
MAC = "02:00:00:00:00:0A"


def host(name: str, namespace: str = "inventory", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": metadata, "spec": spec}


def rack(*hosts: dict[str, Any], name: str = "rack-a01") -> dict[str, Any]:
    return {"setName": name, "namespace": "inventory", "members": {body["metadata"]["name"]: body for body in hosts}}


def live(kube: Any, name: str, namespace: str = "inventory") -> Any:
    return kube.objects.get(("baremetalhosts", namespace, name))


def writes(kube: Any) -> list[str]:
    """Return method, namespace and name of the writes to hosts."""
    lines = (line.partition("?")[0].split("/") for line in kube.writes() if "baremetalhosts" in line)
    return [f"{parts[0].strip()} {parts[-3]}/{parts[-1]}" for parts in lines]


@pytest.fixture(autouse=True)
def tenants(kube: Any) -> None:
    kube.namespaces |= {"acme", "globex"}


def moved(provider: Any, old: dict[str, Any], new: dict[str, Any], outputs: Any, *, preview: bool = False) -> str:
    """Return the reason why an update is rejected."""
    with pytest.raises(grpc.RpcError) as error:
        provider.update(rack(old), rack(new), outputs, preview=preview)
    return str(provider.failure(error.value).text).partition("\n  ")[2]


def test_a_free_host_moves_into_a_namespace_after_deletion_of_its_old_object(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack(host("u01")))
    kube.log.clear()

    outputs = provider.update(rack(host("u01")), rack(host("u01", "acme")), outputs)

    assert writes(kube) == ["DELETE inventory/u01", "PATCH acme/u01"]
    assert outputs["uids"] == {"u01": live(kube, "u01", "acme")["metadata"]["uid"]}


@pytest.mark.parametrize("preview", [True, False])
def test_a_host_in_use_never_changes_its_namespace(provider: Any, kube: Any, *, preview: bool) -> None:
    outputs = provider.create(rack(host("u01", "acme")))
    live(kube, "u01", "acme")["status"] = {"provisioning": {"state": "provisioned"}}
    kube.log.clear()

    assert moved(provider, host("u01", "acme"), host("u01"), outputs, preview=preview) == (
        "BareMetalHost acme/u01 is provisioned; release and wipe it first, and would become "
        "BareMetalHost inventory/u01; a host can only change its namespace while it is not in use"
    )
    assert kube.writes() == []


def test_a_host_moves_between_tenants_through_the_free_hosts(provider: Any, kube: Any) -> None:
    outputs = provider.create(rack(host("u01", "acme")))
    kube.log.clear()

    assert moved(provider, host("u01", "acme"), host("u01", "globex"), outputs) == (
        "BareMetalHost acme/u01 would become BareMetalHost globex/u01: a host changes its owner in two changes; "
        "release it to namespace inventory in this change, so that it is wiped, and claim it in the next change"
    )
    assert kube.writes() == []


def test_a_host_under_a_new_name_is_known_by_its_mac(provider: Any, kube: Any) -> None:
    old, new = host("u01", "acme", bootMACAddress=MAC), host("u09", "globex", bootMACAddress=MAC.lower())
    outputs = provider.create(rack(old))
    kube.log.clear()

    assert moved(provider, old, new, outputs).startswith(
        "BareMetalHost acme/u01 would become BareMetalHost globex/u09: a host changes its owner in two changes"
    )
    assert kube.writes() == []


def test_a_host_with_a_blocked_old_object_is_not_recreated_and_the_next_run_continues(provider: Any, kube: Any) -> None:
    old, new = rack(host("u01")), rack(host("u01", "acme"))
    outputs = provider.create(old)
    live(kube, "u01")["metadata"]["finalizers"] = ["baremetalhost.metal3.io"]

    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, new, outputs, timeout=0.1)
    failure = provider.failure(error.value)
    assert failure.reasons == [
        "BareMetalHost inventory/u01: is still being deleted after 0.1 s; blocked by baremetalhost.metal3.io"
    ]
    assert live(kube, "u01", "acme") is None

    del kube.objects["baremetalhosts", "inventory", "u01"]
    assert list(provider.update(old, new, failure.outputs.plain)["uids"]) == ["u01"]
    assert live(kube, "u01", "acme")


def test_a_split_set_keeps_its_members_in_any_order(provider: Any, kube: Any) -> None:
    whole, left = rack(host("u01"), host("u02")), rack(host("u01"))
    right = rack(host("u02"), name="rack-b01")
    outputs = provider.create(whole)
    live(kube, "u02")["status"] = {"provisioning": {"state": "provisioned"}}
    uid = live(kube, "u02")["metadata"]["uid"]
    provider.check(left)
    provider.check(right)

    assert provider.update(whole, left, outputs)["uids"] == {"u01": outputs["uids"]["u01"]}
    provider.urn = NEW_URN
    assert provider.create(right)["uids"] == {"u02": uid}

    assert live(kube, "u02")["metadata"]["labels"] == {PART_OF: NEW}
    assert provider.engine.lines == ["handed over unchanged: BareMetalHost inventory/u02 to inventory/rack-b01"]


def test_a_renamed_set_keeps_its_members(provider: Any, kube: Any) -> None:
    before = rack(host("u01"), host("u02"))
    outputs = provider.create(before)
    provider.urn = NEW_URN
    after = {**before, "setName": "rack-b01"}
    provider.check(after)

    assert provider.create(after)["uids"] == outputs["uids"]
    provider.delete(before, outputs=outputs)

    assert sorted(name for plural, _, name in kube.objects if plural == "baremetalhosts") == ["u01", "u02"]
    assert [name for plural, _, name in kube.objects if plural == "configmaps"] == ["rack-b01"]
    assert provider.engine.lines == []


def test_a_set_is_not_deleted_before_another_has_adopted_its_members(provider: Any, kube: Any) -> None:
    before = rack(host("u01"))
    provider.create(before)
    provider.check({**before, "setName": "rack-b01"})

    with pytest.raises(grpc.RpcError) as error:
        provider.delete(before)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n  BareMetalHost inventory/u01 is wanted by the "
        "set inventory/rack-b01, which has not adopted it yet; run again after an up of that set"
    )
    assert live(kube, "u01")


def test_a_member_of_two_sets_is_rejected(provider: Any) -> None:
    provider.create(rack(host("u01")))
    provider.check(rack(host("u01")))
    provider.urn = NEW_URN

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack(host("u01"), name="rack-b01"))

    assert provider.failure(error.value).text.endswith(
        f"\n  BareMetalHost inventory/u01 is also a member of the set {OLD}; remove it from one of the sets"
    )


def test_members_of_another_stack_are_not_adopted(provider: Any, kube: Any) -> None:
    marks = {"labels": {PART_OF: OLD}, "annotations": {MEMBER: "u01"}}
    kube.host("u01", metadata=marks)
    annotations = {TOOLING: "jacquard/v1", "jacquard.dev/made-by": "urn:pulumi:other::toy::x::rack-a01"}
    metadata = {"name": "rack-a01", "namespace": "inventory", "labels": {ID: OLD}, "annotations": annotations}
    kube.store(("configmaps", "inventory", "rack-a01"), {"metadata": metadata})
    provider.urn = NEW_URN

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack(host("u01"), name="rack-b01"))

    assert provider.failure(error.value).text.endswith(
        "\n  BareMetalHost inventory/u01 belongs to the set of urn:pulumi:other::toy::x::rack-a01; "
        "remove it there before it is added here"
    )


def test_no_decision_is_made_before_the_program_has_declared_its_sets(monkeypatch: Any) -> None:
    waits: list[float] = []

    class Clock:
        now = 100.0

        def monotonic(self) -> float:
            return self.now

    class Event:
        def wait(self, seconds: float) -> bool:
            waits.append(seconds)
            clock.now += seconds
            if len(waits) == 1:
                announced.announce(ObjectSet("rack-b01", "inventory", {}))
            return False

    clock = Clock()
    monkeypatch.setattr(handover, "time", clock)
    announced = Announcements()
    clock.now += 0.5

    announced.settle(Event())  # type: ignore[arg-type]  # the part of an event that is used

    assert waits == [handover.SETTLE_SECONDS - 0.5, handover.SETTLE_SECONDS]
