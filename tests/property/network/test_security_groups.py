"""Security groups: rendered rules permit the declared connections including answers, and paths agree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.render.network.packets import Ports
from components.reports.network.endpoints import endpoint, ports
from components.reports.network.paths import Region
from components.specs.environment import Environment
from components.specs.network.border import BorderSpec
from components.specs.network.security_groups import Protocol, SecurityGroupSpec
from components.specs.struct import replace
from tests.support.network.drawn_regions import GROUPS, NAMES, NETWORK_BACKENDS, PEERINGS, PLAIN, PORTS, region
from tests.support.network.reachability import reachability
from tests.support.network.rendered_network import OUTSIDE, End, RenderedNetwork
from tests.support.network.rendered_vrfs import GATEWAY

Groups = dict[str, SecurityGroupSpec | None]
TWO = NAMES[:2]
DRAWN = st.dictionaries(st.sampled_from(NAMES[:3]), st.none() | GROUPS, min_size=2)


def grouped(groups: Groups, border: BorderSpec | None, peerings: set[tuple[str, str]]) -> Environment:
    return region({name: replace(PLAIN, group=one) for name, one in groups.items()}, border, peerings=peerings)


def pods(environment: Environment) -> dict[str, End]:
    return {name: End(address=one.pods[5], vpc=name) for name, one in environment.allocations.vpcs.items()}


@given(DRAWN, NETWORK_BACKENDS, PEERINGS)
@settings(max_examples=60)
def test_a_path_with_a_port_matches_rendered_rules(
    groups: Groups, border: BorderSpec | None, peerings: set[tuple[str, str]]
) -> None:
    environment = grouped(groups, border, peerings)
    model, rendered, inside = Region(environment), reachability(environment), pods(environment)
    public = {key.partition("-")[0]: address for key, address in environment.allocations.public_ips.items()}
    vms = [End(address=public[name], vpc=name, sends_as=pod.address) for name, pod in inside.items()]
    points = {end: endpoint(environment, str(end.address)) for end in (End(address=OUTSIDE), *inside.values(), *vms)}

    wrong = [
        (str(one.address), str(other.address), port)
        for one, other in permutations(points, 2)
        for port in (PORTS if one.vpc or other.vpc else ())
        if rendered.reaches(one, other, port) != model.path(points[one], points[other], _requested(port)).reached
    ]
    assert wrong == []


def _requested(port: tuple[str, int]) -> Ports:
    return ports(f"{port[0]}/{port[1]}".removesuffix("/0"))


@given(st.fixed_dictionaries(dict.fromkeys(TWO, st.none() | GROUPS)))
@settings(max_examples=100)
def test_peers_reach_the_ports_that_both_security_groups_permit(groups: Groups) -> None:
    environment = grouped(groups, None, {(TWO[0], TWO[1])})
    rendered, inside = reachability(environment), pods(environment)

    for one, other in permutations(TWO):
        for port in PORTS:
            meant = _lets(groups[one], other, port, "egress") and _lets(groups[other], one, port, "ingress")
            assert rendered.reaches(inside[one], inside[other], port) == meant


def _lets(group: SecurityGroupSpec | None, peer: str, port: tuple[str, int], way: str) -> bool:
    """Return whether ``group`` permits connections to ``port`` in that direction; replies need no rule."""
    if group is None:
        return True
    protocols, sides = {Protocol.ANY, Protocol(port[0])}, {"ingress": group.ingress, "egress": group.egress}
    return any(
        rule.peer == peer and rule.protocol in protocols and (not rule.ports or port[1] in rule.ports)
        for rule in sides[way]
    )


@given(GROUPS)
@settings(max_examples=50)
def test_a_host_cannot_receive_what_it_may_not_send(group: SecurityGroupSpec) -> None:
    """Except the initiator of a connection, and packets to the DPU itself, which are filtered in one direction."""
    environment = grouped(dict.fromkeys(TWO, group), None, set())

    assert {
        name: _turned(rendered_rules) for name, rendered_rules in _lists(reachability(environment), "sent")
    } == dict(_lists(reachability(environment), "received"))


def _lists(network: RenderedNetwork, which: str) -> list[tuple[str, list[tuple[dict[str, object], bool]]]]:
    return [(name, getattr(vrf, which)) for name, vrf in network.vrfs.items()]


def _turned(rules: list[tuple[dict[str, object], bool]]) -> list[tuple[object, bool]]:
    return [(_swapped(match), verdict) for match, verdict in rules if not _to_dpu(match)]


def _to_dpu(match: Mapping[str, Any]) -> bool:
    return bool(match["ip"].get("dest-ip") == f"{GATEWAY}/32")


def _swapped(value: object) -> object:
    if not isinstance(value, dict):
        return value
    names = {"dest-ip": "source-ip", "source-ip": "dest-ip", "dest-port": "source-port", "source-port": "dest-port"}
    turned: dict[Any, Any] = {names.get(key, key): _swapped(inner) for key, inner in value.items()}
    if states := turned.get("conntrack"):
        turned["conntrack"] = {"established": {}} if "new" in states else {"new": {}, "established": {}}
    return turned
