"""Example objects for tenants conform to the schemas of KubeVirt and NVIDIA."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from components.reports.examples import examples_of
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.vms.vm_orders import objects_of, orders


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


@pytest.mark.parametrize("name", REFERENCES)
def test_an_order_of_each_kind_fits_its_published_schema(published: Oracle, name: str) -> None:
    environment = reference(name)
    manifests = [item for one in examples_of(environment).values() for item in one.manifests]
    orders = [item for item in manifests if item["kind"] in {"VirtualMachine", "ComputeDomain"}]

    assert orders or not any(tenant.vms for tenant in environment.tenants)
    for order in orders:
        placed = {**order, "metadata": {**order["metadata"], "namespace": "default"}}  # As kubectl does
        assert published.problems(placed) == []


def test_an_order_with_each_feature_fits_its_published_schema(published: Oracle) -> None:
    found = [(what, item) for what, *one in orders() for item in objects_of(*one) if item.kind != "Service"]

    assert {item.kind for _, item in found} == {"VirtualMachine", "VirtualMachinePool", "DataVolume"}
    for what, item in found:
        assert published.problems(item.body) == [], what
