"""What tenants are told to apply fits the schemas that KubeVirt and NVIDIA publish."""

from __future__ import annotations

from typing import Any, Protocol

import pytest
from environment_data import ENVIRONMENTS
from vm_orders import objects_of, orders

from components.reports.examples import examples_of
from components.specs.reading.loader import load_environment


class Oracle(Protocol):
    """What the fixture ``published`` gives."""

    def problems(self, body: Any) -> list[str]: ...


@pytest.mark.parametrize("name", ["laptop", "us-east-04a", "eu-south-03a"])
def test_an_order_of_each_kind_fits_its_published_schema(published: Oracle, name: str) -> None:
    environment = load_environment(name, ENVIRONMENTS)
    manifests = [item for one in examples_of(environment).values() for item in one.manifests]
    orders = [item for item in manifests if item["kind"] in {"VirtualMachine", "ComputeDomain"}]

    assert orders
    for order in orders:
        placed = {**order, "metadata": {**order["metadata"], "namespace": "default"}}  # as kubectl does it
        assert published.problems(placed) == []


def test_an_order_with_each_feature_fits_its_published_schema(published: Oracle) -> None:
    found = [(what, item) for what, *one in orders() for item in objects_of(*one) if item.kind != "Service"]

    assert {item.kind for _, item in found} == {"VirtualMachine", "VirtualMachinePool", "DataVolume"}
    for what, item in found:
        assert published.problems(item.body) == [], what
