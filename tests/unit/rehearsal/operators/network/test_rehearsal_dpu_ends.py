"""Finalizers of DPF: deleted objects remain until nothing depends on them, and are released in upstream's order."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.network import dpu_ends
from jacquard.lab.rehearsal.operators.network.dpu_ends import (
    CLASS_HELD,
    COPIED_HELD,
    DEPLOYMENT_HELD,
    NETWORK_HELD,
    VPC,
    VPC_HELD,
)
from jacquard.lab.rehearsal.operators.network.dpus import API, DEPLOYMENT_LABEL, SERVICES
from jacquard.lab.rehearsal.operators.releases.installed import HELM, SOURCE
from tests.support.objects.live_objects import obj

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
CONTROLLER = (
    obj(SOURCE, "OCIRepository", "chart", {"url": "oci://charts.example/dpf-vpc-ovn"}),
    obj(HELM, "HelmRelease", "any", {"chartRef": {"kind": "OCIRepository", "name": "chart"}}, status=READY),
)
PORT_HELD = COPIED_HELD["DPUServiceInterface"]


def network() -> list[Any]:
    """Return a VPC on OVN with its class, its network and the network's port on hosts."""
    port = {"interfaceType": "pf", "pf": {"pfID": 0, "virtualNetwork": "net"}}
    return [
        obj(VPC, "IsolationClass", "ovn", namespace=""),
        obj(VPC, "DPUVPC", "vpc", {"isolationClassName": "ovn"}),
        obj(VPC, "DPUVirtualNetwork", "net", {"vpcName": "vpc"}),
        obj(SERVICES, "DPUServiceInterface", "port", {"template": {"spec": {"template": {"spec": port}}}}),
    ]


def deployment(*services: str) -> Any:
    named = {name: {"serviceTemplate": name, "serviceConfiguration": name} for name in services}
    return obj(SERVICES, "DPUDeployment", "globex", {"dpus": {"bfb": "bfb", "flavor": "flavor"}, "services": named})


def configurations(*names: str) -> list[Any]:
    return [obj(SERVICES, "DPUServiceConfiguration", name) for name in names]


def held(view: Any) -> dict[str, list[str]]:
    """Return the finalizers of objects that have some, by kind and name."""
    found = {f"{kind} {name}": one["metadata"].get("finalizers") for (kind, _, name), one in view.store.items()}
    return {key: value for key, value in found.items() if value}


def delete(view: Any, kind: str, name: str) -> None:
    """Request the deletion of an object with a finalizer."""
    view.edit(kind, name, "ns", {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})


def is_released(view: Any, kind: str, name: str) -> bool:
    """Run a round, and delete an object without finalizers, as an API server does."""
    dpu_ends.reconcile(view)
    if view.get(kind, name, "ns")["metadata"]["finalizers"]:
        return False
    del view.store[kind, "ns", name]
    return True


def test_a_network_is_kept_for_its_port_and_a_vpc_for_its_network(objects: Any) -> None:
    view = objects(*CONTROLLER, *network())
    dpu_ends.reconcile(view)
    assert held(view) == {
        "IsolationClass ovn": [CLASS_HELD],
        "DPUVPC vpc": [VPC_HELD],
        "DPUVirtualNetwork net": [NETWORK_HELD],
        "DPUServiceInterface port": [PORT_HELD],
    }

    delete(view, "DPUVPC", "vpc")
    delete(view, "DPUVirtualNetwork", "net")
    assert not is_released(view, "DPUVPC", "vpc")
    assert not is_released(view, "DPUVirtualNetwork", "net")
    delete(view, "DPUServiceInterface", "port")
    for kind, name in (("DPUServiceInterface", "port"), ("DPUVirtualNetwork", "net"), ("DPUVPC", "vpc")):
        assert is_released(view, kind, name)


def test_a_class_is_kept_for_its_vpcs_and_forever_without_its_controller(objects: Any) -> None:
    view, gone = objects(*CONTROLLER, *network()[:2]), {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    dpu_ends.reconcile(view)
    view.edit("IsolationClass", "ovn", "", gone)
    dpu_ends.reconcile(view)
    assert held(view)["IsolationClass ovn"] == [CLASS_HELD]

    delete(view, "DPUVPC", "vpc")
    assert is_released(view, "DPUVPC", "vpc")
    del view.store["HelmRelease", "ns", "any"]
    dpu_ends.reconcile(view)
    assert held(view) == {"IsolationClass ovn": [CLASS_HELD]}
    view.store["HelmRelease", "ns", "any"] = CONTROLLER[1]
    dpu_ends.reconcile(view)
    assert held(view) == {}


@pytest.mark.parametrize("lost", [("HelmRelease", "ns", "any"), ("IsolationClass", "", "ovn")])
def test_the_finalizer_of_a_vpc_remains_if_its_controller_or_class_was_deleted_first(objects: Any, lost: Any) -> None:
    view = objects(*CONTROLLER, *network()[:2])
    dpu_ends.reconcile(view)
    del view.store[lost]
    delete(view, "DPUVPC", "vpc")

    assert not is_released(view, "DPUVPC", "vpc")


def test_referenced_objects_of_a_deployment_are_kept_until_it_references_others(objects: Any) -> None:
    view = objects(deployment("hbn"), *configurations("hbn", "ovn"), obj(API, "BFB", "bfb"))
    dpu_ends.reconcile(view)
    assert held(view) == {
        "DPUDeployment globex": [DEPLOYMENT_HELD],
        "DPUServiceConfiguration hbn": [DEPLOYMENT_HELD],
        "BFB bfb": [DEPLOYMENT_HELD],
    }

    delete(view, "DPUServiceConfiguration", "hbn")
    assert not is_released(view, "DPUServiceConfiguration", "hbn")
    services = {"hbn": None, "ovn": {"serviceConfiguration": "ovn"}}
    view.edit("DPUDeployment", "globex", "ns", {"spec": {"services": services}})
    assert is_released(view, "DPUServiceConfiguration", "hbn")
    assert held(view)["DPUServiceConfiguration ovn"] == [DEPLOYMENT_HELD]


def test_a_deployment_is_kept_for_its_dpus_with_its_references(objects: Any) -> None:
    labels = {"metadata": {"labels": {DEPLOYMENT_LABEL: "ns_globex"}}}
    other = {"metadata": {"labels": {DEPLOYMENT_LABEL: "ns_acme"}}}
    dpus = [obj(API, "DPU", name, **of) for name, of in (("d1", labels), ("d2", other))]
    sets = [obj(API, "DPUSet", name, **of) for name, of in (("globex-hosts", labels), ("acme-hosts", other))]
    view = objects(deployment("hbn"), *configurations("hbn"), *dpus, *sets)
    dpu_ends.reconcile(view)

    delete(view, "DPUDeployment", "globex")
    assert not is_released(view, "DPUDeployment", "globex")
    assert [one["metadata"]["name"] for one in view.all(API, "DPUSet")] == ["acme-hosts"]
    assert not is_released(view, "DPUDeployment", "globex")
    assert held(view)["DPUServiceConfiguration hbn"] == [DEPLOYMENT_HELD]
    del view.store["DPU", "ns", "d1"]
    assert is_released(view, "DPUDeployment", "globex")
    assert held(view) == {}
