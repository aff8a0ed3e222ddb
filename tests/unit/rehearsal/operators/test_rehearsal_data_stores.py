"""Data stores of the local region: created by their release, ready with their Secrets, and required by clusters."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import data_stores
from jacquard.lab.rehearsal.operators.releases import installed
from tests.support.objects.live_objects import obj

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
SOURCE = obj(installed.SOURCE, "OCIRepository", "etcds", {"url": "oci://registry.example/charts/kamaji-etcd"}, "ops")


def release(name: str = "a-etcd", *, authority: str = "a-etcd", ready: bool = True) -> dict[str, Any]:
    values = {
        "fullnameOverride": name,
        "replicas": 3,
        "datastore": {"enabled": True, "name": name.removesuffix("-etcd")},
        "certManager": {
            "issuerRef": {"kind": "Issuer", "name": authority},
            "ca": {"create": name == authority, "nameOverride": f"{authority}-ca"},
            "clientCert": {"nameOverride": f"{name}-client"},
        },
    }
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": "etcds", "namespace": "ops"},
        "targetNamespace": "ns",
        "values": values,
    }
    return obj(installed.HELM, "HelmRelease", name, spec, **({"status": READY} if ready else {}))


def issuer(name: str = "a-etcd") -> dict[str, Any]:
    return obj(data_stores.ISSUER, "Issuer", name, {"selfSigned": {}})


def store_after(view: Any, rounds: int = 4) -> Any:
    for _ in range(rounds):
        data_stores.reconcile(view)
    return view.find(data_stores.KAMAJI, "DataStore", "a")


def why(found: Any) -> tuple[bool, str]:
    [condition] = found["status"]["conditions"]
    return found["status"]["ready"], condition["message"]


def test_a_release_creates_its_data_store_and_certificates(objects: Any) -> None:
    view = objects(SOURCE, issuer(), release())

    found = store_after(view)

    assert found["spec"]["endpoints"] == [f"a-etcd-{member}.a-etcd.ns.svc.cluster.local:2379" for member in range(3)]
    assert why(found) == (True, "")
    assert view.get("Secret", "a-etcd-client", "ns")["data"].keys() == {"ca.crt", "tls.crt", "tls.key"}


@pytest.mark.parametrize(
    "there",
    [[SOURCE, issuer(), release(ready=False)], [issuer(), release()], [SOURCE, issuer()]],
    ids=["a release that is not installed", "a release without its chart", "no release"],
)
def test_no_objects_of_uninstalled_releases_are_created(objects: Any, there: list[dict[str, Any]]) -> None:
    assert store_after(objects(*there)) is None


def test_a_data_store_is_not_ready_without_the_issuer_of_its_certificates(objects: Any) -> None:
    ready, message = why(store_after(objects(SOURCE, release())))

    assert not ready
    assert "Secret 'a-etcd-ca' not found" in message


def test_an_etcd_with_another_waits_for_the_ca_of_that_one(objects: Any) -> None:
    view = objects(SOURCE, issuer("b-etcd"), release(authority="b-etcd"))
    assert why(store_after(view))[0] is False

    view.create(release("b-etcd", authority="b-etcd"))

    assert why(store_after(view)) == (True, "")


def test_a_data_store_becomes_unready_without_one_of_its_keys(objects: Any) -> None:
    view = objects(SOURCE, issuer(), release())
    store_after(view)
    del view.get("Secret", "a-etcd-ca", "ns")["data"]["tls.key"]

    assert why(store_after(view)) == (False, "Secret 'a-etcd-ca' has no key 'tls.key'")


def test_dpus_wait_for_the_data_store_that_dpf_names(objects: Any) -> None:
    view = objects(obj(data_stores.DPF, "DPUCluster", "dpus"), SOURCE, issuer("default-etcd"))
    data_stores.reconcile(view)
    [created] = view.get("DPUCluster", "dpus", "ns")["status"]["conditions"]
    assert (created["status"], created["message"]) == ("False", "DataStore 'default' not found")

    view.create(release("default-etcd", authority="default-etcd"))
    store_after(view)

    [created] = view.get("DPUCluster", "dpus", "ns")["status"]["conditions"]
    assert (created["type"], created["status"]) == ("Created", "True")
