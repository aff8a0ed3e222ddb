"""HBN configuration of arbitrary tenants: only keys that NVUE has, and names with a definition."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from components.inputs import tenant_network
from components.inputs.slice_inputs import inputs
from components.lookups.slices import SliceKind, slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.network.border import BorderSpec
from tests.support.network.drawn_regions import NAMES, NETWORK_BACKENDS, PEERINGS, PLAIN, TENANTS, Wish, region
from tests.support.network.nvue_schema import faults
from tests.support.network.nvue_schema import settings as read

Pairs = set[tuple[str, str]]
Json = dict[str, Any]
REQUESTED = {"name", "interface", "cni-args"}
ASKED = {"poolNames", "poolType", "allocateDefaultGateway"}


def of_vpcs(environment: Environment) -> Iterator[Manifest]:
    for tenant in environment.tenants:
        for concept in tenant_network.of_tenant(environment, tenant):
            yield from concept.render()


def of_free_hosts(environment: Environment) -> Iterator[Manifest]:
    [part] = [one for one in slices(environment) if one.kind is SliceKind.FOUNDATION]
    for concept in inputs(environment, part):
        yield from objects(concept.render())


def configurations(rendered: list[Manifest]) -> list[Json]:
    found = [item.body["spec"] for item in rendered if item.kind == "DPUServiceConfiguration"]
    return [one["serviceConfiguration"] for one in found if one["deploymentServiceName"] == "hbn"]


def document(configuration: Json) -> Json:
    return read(configuration["helmChart"]["values"]["configuration"]["startupYAMLJ2"])


@given(TENANTS, NETWORK_BACKENDS, PEERINGS)
@settings(max_examples=100)
def test_a_document_has_nothing_that_nvue_does_not_know(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs
) -> None:
    rendered = list(of_vpcs(region(wishes, border, peerings=peerings)))

    assert [fault for one in configurations(rendered) for fault in faults(document(one))] == []


@pytest.fixture(scope="module")
def plain() -> list[Manifest]:
    """Return the DPU configuration of a region with one VPC, including free hosts."""
    environment = region({NAMES[0]: PLAIN}, None)
    return [*of_free_hosts(environment), *of_vpcs(environment)]


def test_free_hosts_have_an_underlay_and_no_vrf_and_a_vpc_has_both(plain: list[Manifest]) -> None:
    free, tenant = map(document, configurations(plain))

    assert (faults(free), faults(tenant)) == ([], [])
    assert (set(free["vrf"]), set(tenant["vrf"])) == ({"default"}, {"default", NAMES[0]})


def test_addresses_use_known_functions_and_existing_pools(plain: list[Manifest]) -> None:
    pools = {item.name for item in plain if item.kind == "DPUServiceIPAM"}

    for configuration in configurations(plain):
        asked = json.loads(configuration["serviceDaemonSet"]["annotations"]["k8s.v1.cni.cncf.io/networks"])
        for one in asked:
            assert (set(one), set(one["cni-args"]) - ASKED) == (REQUESTED, set())
            assert (one["cni-args"]["poolType"], set(one["cni-args"]["poolNames"]) - pools) == ("cidrpool", set())


VRF = f"vrf/{NAMES[0]}"


@pytest.mark.parametrize(
    ("path", "key", "other", "fault"),
    [
        ("interface/pf0hpf_if", "acl", "acls", "interface.pf0hpf_if: Additional properties are not allowed"),
        (f"{VRF}/router/bgp/route-import", "from-evpn", "from-evnp", "Additional properties are not allowed"),
        (f"router/policy/prefix-list/{NAMES[0]}/rule/10", "action", "actions", "Additional properties"),
        ("acl", NAMES[0], "other", f"pf0hpf_if: no acl {NAMES[0]}"),
        ("vrf", NAMES[0], "other", f"pf0hpf_if: no vrf {NAMES[0]}"),
        ("router/policy/prefix-list", NAMES[0], "other", f"no prefix-list of route-map {NAMES[0]} permit 10"),
        ("router/policy/route-map", NAMES[0], "other", "no route-map of host"),
        (f"router/policy/route-map/{NAMES[0]}/rule", "10", "20", f"no rule of snippet route-map {NAMES[0]} permit 10"),
        (f"router/policy/route-map/{NAMES[0]}/rule/10/set", "community", "ext-community", "Additional properties"),
        (f"{VRF}/router/bgp/peer-group", "host", "hosts", "neighbor pf0hpf_if of host"),
    ],
)
def test_a_typo_in_a_key_or_a_name_is_detected(
    plain: list[Manifest], path: str, key: str, other: str, fault: str
) -> None:
    found = copy.deepcopy(document(configurations(plain)[-1]))
    there = found
    for step in path.split("/"):
        there = there[step]
    there[other] = there.pop(key)

    assert fault in "\n".join(faults(found))


def test_packets_without_a_rule_are_detected(plain: list[Manifest]) -> None:
    found = copy.deepcopy(document(configurations(plain)[-1]))
    found["acl"][NAMES[0]]["rule"].popitem()

    assert faults(found) == [f"{NAMES[0]}: packets that no rule is about"]
