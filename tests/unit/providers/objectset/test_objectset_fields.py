"""Field ownership, normalised values, and the identity of the cluster."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jacquard.providers.objectset.importing import declared
from tests.support.api_servers.fake_kube import conflict
from tests.support.engine.racks import rack

CONFLICT = conflict((".spec.online", "kubectl-edit"))
ELSEWHERE = (
    "{url} is not the cluster to which this set was applied (the uid of namespace kube-system was cluster-1 "
    "and is cluster-2); point the kubeconfig to that cluster, or, if it no longer exists, remove the set from the "
    "state: pulumi state delete 'urn:pulumi:lab::toy::jacquard:index:ObjectSet::rack-a01'"
)

FOREIGN = (
    "ObjectSet inventory/foreign cannot be imported: its parent, ConfigMap inventory/foreign, "
    "exists and is not the parent of an ApplySet"
)


@pytest.mark.parametrize("preview", [True, False])
def test_fields_are_taken_over_from_a_manager_that_the_user_named(provider: Any, kube: Any, *, preview: bool) -> None:
    kube.refused["u02"] = CONFLICT

    provider.create(rack("u01", "u02", online=True), preview=preview)

    [line] = provider.engine.lines
    assert line == (
        "fields taken over with JACQUARD_TAKE_FIELDS_FROM: BareMetalHost inventory/u02 .spec.online ('kubectl-edit')"
    )
    forced = [line.partition("?")[0].rpartition("/")[2] for line in kube.log if "force=true" in line]
    assert forced == ["u02"]


def test_fields_of_managers_that_the_user_did_not_name_are_kept(provider: Any, kube: Any) -> None:
    status, answer = CONFLICT
    theirs = {
        "reason": "FieldManagerConflict",
        "field": ".spec.description",
        "message": 'conflict with "argocd" using metal3.io/v1alpha1',
    }
    kube.refused["u01"] = (status, {**answer, "details": {"causes": [*answer["details"]["causes"], theirs]}})

    with pytest.raises(grpc.RpcError, match="JACQUARD_TAKE_FIELDS_FROM=argocd,kubectl-edit"):
        provider.create(rack("u01", online=True), preview=True)

    assert not any("force=true" in line for line in kube.log)


def test_a_value_that_the_server_writes_in_its_own_way_is_no_drift(provider: Any, kube: Any) -> None:
    kube.rewrite = lambda spec: {**spec, "bootMACAddress": spec["bootMACAddress"].lower()}
    inputs = rack("u01", "u02", bootMACAddress="02:00:00:00:00:0A", online=True)
    outputs = provider.create(inputs)
    kube.objects["baremetalhosts", "inventory", "u02"]["spec"]["online"] = False

    _, found, _ = provider.read(inputs, outputs=outputs)

    assert found.plain["members"]["u01"] == inputs["members"]["u01"]
    assert found.plain["members"]["u02"]["spec"] == {"bootMACAddress": "02:00:00:00:00:0A", "online": False}
    assert kube.writes()[-1].startswith("PATCH /apis/metal3.io")


def test_drift_is_shown_if_the_server_rejects_dry_runs(provider: Any, kube: Any) -> None:
    inputs = rack("u01", online=True)
    outputs = provider.create(inputs)
    kube.objects["baremetalhosts", "inventory", "u01"]["spec"]["online"] = False
    kube.namespaces.clear()

    _, found, _ = provider.read(inputs, outputs=outputs)

    assert found.plain["members"]["u01"]["spec"] == {"online": False}


@pytest.mark.parametrize("call", ["preview", "update", "read", "delete"])
def test_another_cluster_with_the_same_kubeconfig_is_rejected(provider: Any, kube: Any, call: str) -> None:
    inputs = rack("u01")
    outputs = provider.create(inputs)
    kube.log.clear()
    outputs["cluster"], elsewhere = "cluster-2", ELSEWHERE.format(url=kube.url)
    calls = {
        "preview": lambda: provider.update(inputs, rack("u02"), outputs, preview=True),
        "update": lambda: provider.update(inputs, rack("u02"), outputs),
        "read": lambda: provider.read(inputs, outputs=outputs),
        "delete": lambda: provider.delete(inputs, outputs=outputs),
    }

    with pytest.raises(grpc.RpcError) as error:
        calls[call]()

    swapped = elsewhere.replace("was cluster-1 and is cluster-2", "was cluster-2 and is cluster-1")
    assert provider.failure(error.value).text == swapped
    assert kube.writes() == []


def test_a_set_is_imported_by_its_id_as_it_was_applied(provider: Any, kube: Any) -> None:
    inputs = rack("u01", "u02", online=True)
    inputs["members"] = {f"key-{name}": body for name, body in inputs["members"].items()}
    outputs = provider.create(inputs)
    for name in ("u01", "u02"):
        live = kube.objects["baremetalhosts", "inventory", name]
        live["spec"]["consumerRef"] = {"name": "lab-0"}
        live["metadata"]["managedFields"] = [
            {
                "manager": "jacquard-objectset",
                "operation": "Apply",
                "fieldsV1": {
                    "f:metadata": {
                        "f:labels": {"f:applyset.kubernetes.io/part-of": {}},
                        "f:annotations": {"f:jacquard.dev/member": {}},
                    },
                    "f:spec": {"f:online": {}},
                },
            }
        ]

    id_, found, read_outputs = provider.read({})

    assert (id_, found.plain, read_outputs) == ("inventory/rack-a01", inputs, outputs)


def test_applied_values_are_found_in_lists_too() -> None:
    spec = {
        "ports": [{"port": 80, "protocol": "TCP", "name": "a"}, {"port": 81, "name": "b"}],
        "finalizers": ["theirs", "ours"],
        "atomic": [1, 2],
    }
    fields = {
        "f:spec": {
            "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:protocol": {}}},
            "f:finalizers": {'v:"ours"': {}},
            "f:atomic": {},
        }
    }
    entries = [
        {"manager": "jacquard-objectset", "operation": "Update", "fieldsV1": {"f:metadata": {}}},
        {"manager": "jacquard-objectset", "operation": "Apply", "fieldsV1": fields},
    ]
    metadata = {"name": "u01", "uid": "x", "managedFields": entries}

    assert declared({"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "spec": spec}) == {
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": {"name": "u01"},
        "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "finalizers": ["ours"], "atomic": [1, 2]},
    }


@pytest.mark.parametrize(
    ("id_", "why"),
    [
        ("rack-a01", "'rack-a01' is not an id of an ObjectSet; write NAMESPACE/SETNAME, such as inventory/rack-a01"),
        (
            "inventory/rack-a09",
            "ObjectSet inventory/rack-a09 cannot be imported: its parent, ConfigMap inventory/rack-a09, does not exist",
        ),
        ("inventory/foreign", FOREIGN),
    ],
)
def test_an_import_of_another_object_is_an_error(provider: Any, kube: Any, id_: str, why: str) -> None:
    kube.store(("configmaps", "inventory", "foreign"), {"metadata": {"name": "foreign", "namespace": "inventory"}})

    with pytest.raises(grpc.RpcError) as error:
        provider.read({}, id_=id_)

    assert provider.failure(error.value).text == why
