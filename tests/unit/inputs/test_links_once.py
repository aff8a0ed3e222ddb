"""Links of hosts are computed once: a region of 6,000 hosts has 5,000 links in 16 VPCs."""

from collections import Counter

import pytest

from components.allocate import node_addresses as allocated
from components.allocate.allocation import attempt
from components.inputs import node_addresses as inputs
from components.specs.base import Address, Network
from components.specs.network.vpc_allocation import VpcAllocation
from jacquard.previews.snapshots import side
from tests.support.data.environment_data import reference


def test_allocation_lists_the_links_of_a_dpu_cluster_at_most_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Counter[tuple[str, str]]()
    real = allocated.links

    def counted(vpc: VpcAllocation, at: str) -> object:
        listed[str(vpc.hosts), at] += 1
        return real(vpc, at)

    monkeypatch.setattr(allocated, "links", counted)
    attempt(reference("us-east-04a"))

    assert listed
    assert max(listed.values()) <= 2  # For kept addresses, and for free ones


def test_each_address_is_converted_to_its_link_once(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = reference("us-east-04a")
    converted = Counter[Address]()
    real = inputs.link_of

    def counted(address: Address) -> Network:
        converted[address] += 1
        return real(address)

    monkeypatch.setattr(inputs, "link_of", counted)
    side(environment)

    assert converted == Counter(environment.allocations.addresses.values())
