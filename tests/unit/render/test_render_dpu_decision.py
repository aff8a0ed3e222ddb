"""Selection of the next DPU to release: one step for each host, few in parallel, and no disruption of workloads."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.programs.dpu_decision import Host, Step, Verb, decide

WORKS: dict[str, Any] = {"marked": True, "ready": True}
USED: dict[str, Any] = {**WORKS, "vpc": "acme", "claimed": True, "available": False, "group": "acme/train"}
BEHIND: dict[str, Any] = {**USED, "behind": True}
TAKEN: dict[str, Any] = {"away": True, "marked": False}


def step(host: Host, most: int = 10, per_vpc: int = 10) -> Verb | None:
    found = decide([host], most, per_vpc)
    return found[0][0] if found else None


@pytest.mark.parametrize(
    ("facts", "verb"),
    [
        # A new host, whose DPU is deployed before the machine.
        ({"made": False}, None),
        ({"held": True}, Verb.RELEASE),
        ({"held": True, "available": False}, None),
        ({}, None),
        ({"reboot": True}, Verb.CYCLE),
        ({"reboot": True, "asked": True, "cycling": True}, None),
        ({"reboot": True, "asked": True}, Verb.DONE),
        ({"ready": True}, Verb.MARK),
        ({"ready": True, "behind": True}, Verb.MARK),
        (WORKS, None),
        # A free host with an outdated or broken DPU.
        ({**WORKS, "behind": True}, Verb.TAKE),
        ({**WORKS, "ready": False}, Verb.TAKE),
        ({"away": True, "ready": True, "behind": True}, Verb.DELETE),
        ({"away": True, "behind": True, "made": False}, None),
        ({"away": True, "ready": True}, Verb.MARK),
        # A host with a machine.
        (USED, None),
        ({**USED, "marked": False}, Verb.MARK),
        ({**USED, "ready": False}, None),
        (BEHIND, None),
        ({**BEHIND, "yielding": True}, Verb.TAKE),
        ({**BEHIND, "yielding": True, "going": True}, None),
        ({**USED, "held": True, "ready": False, "yielding": True}, Verb.TAKE),
        ({**BEHIND, **TAKEN, "yielding": True}, Verb.EMPTY),
        ({**BEHIND, **TAKEN, "yielding": True, "going": True}, None),
        ({**BEHIND, **TAKEN}, Verb.GIVE_BACK),
        ({**USED, **TAKEN, "yielding": True}, Verb.GIVE_BACK),
        ({**USED, **TAKEN, "held": True, "ready": False}, None),
    ],
)
def test_a_host_gets_its_next_step(facts: dict[str, Any], verb: Verb | None) -> None:
    assert step(Host(name="a", **facts)) is verb


def test_free_hosts_go_first_and_one_of_a_rollout_group_at_a_time() -> None:
    may = {**BEHIND, "yielding": True}
    hosts = [
        Host(name="a", **may),
        Host(name="b", **may),
        Host(name="c", **{**may, "group": "acme/infer"}),
        Host(name="d", **WORKS, behind=True, vpc="acme"),
    ]

    assert [host.name for _, host in decide(hosts, 10, 10)] == ["d", "a", "c"]
    assert [host.name for _, host in decide(hosts, 2, 10)] == ["d", "a"]
    assert [host.name for _, host in decide(hosts, 10, 1)] == ["d"]


def test_a_group_that_loses_a_machine_already_loses_no_other() -> None:
    hosts = [Host(name="a", **{**BEHIND, **TAKEN, "yielding": True}), Host(name="b", **BEHIND, yielding=True)]

    assert [(verb, host.name) for verb, host in decide(hosts, 10, 10)] == [(Verb.EMPTY, "a")]


FLAGS = ("claimed", "going", "yielding", "available", "marked", "away", "asked", "cycling", "made", "ready", "behind")
REST = ("held", "reboot")
UNDER_FEET = {Verb.DELETE, Verb.RELEASE, Verb.CYCLE, Verb.DONE}
"""Steps that interrupt the network or power of a host, or permit DPF to do so."""


def test_no_step_interrupts_the_network_of_a_host_in_use() -> None:
    every = (dict(zip(FLAGS + REST, facts, strict=True)) for facts in product((False, True), repeat=len(FLAGS + REST)))
    for facts in every:
        host = Host(name="a", **facts)
        found = {verb for verb, _ in decide([host], 10, 10)}
        assert len(found) <= 1
        if found & UNDER_FEET:
            assert host.available
            assert not host.claimed
            assert not host.marked
            assert not host.cycling
        if Verb.EMPTY in found:
            assert host.yielding
            assert not host.marked
        if Verb.MARK in found or Verb.GIVE_BACK in found:
            assert host.ready


class Simulated:
    """Hosts, DPF, Metal3 and Cluster API, limited to steps and their responses, at a random pace."""

    def __init__(self, hosts: list[Host]) -> None:
        self.hosts = {host.name: host for host in hosts}

    def change(self, name: str, **facts: Any) -> None:
        self.hosts[name] = replace(self.hosts[name], **facts)

    def take(self, steps: list[Step]) -> None:
        for verb, host in steps:
            self.change(host.name, **self._answer(verb))

    @staticmethod
    def _answer(verb: Verb) -> dict[str, Any]:
        return {
            Verb.MARK: {"marked": True, "away": False, "asked": False},
            Verb.GIVE_BACK: {"marked": True, "away": False, "asked": False},
            Verb.TAKE: {"marked": False, "away": True},
            Verb.EMPTY: {"going": True},
            Verb.DELETE: {"made": False, "ready": False},
            Verb.RELEASE: {"held": False, "behind": False},
            Verb.CYCLE: {"asked": True, "cycling": True},
            Verb.DONE: {"asked": False, "reboot": False, "ready": True},
        }[verb]

    def go_on(self, name: str) -> None:
        """Run the next step of the controllers for a host."""
        host = self.hosts[name]
        if host.going:
            self.change(name, going=False, claimed=False, available=True, group=None)
        elif not host.made:
            self.change(name, made=True, held=True)
        elif host.cycling:
            self.change(name, cycling=False)
        elif not host.ready and not host.held and not host.reboot:
            self.change(name, reboot=True)


def drawn(number: int, claimed: bool, vpc: str) -> Host:  # noqa: FBT001 - drawn
    group = f"{vpc}/pool" if claimed else None
    facts = {"claimed": claimed, "available": not claimed, "group": group, "yielding": claimed}
    return Host(name=f"h{number}", vpc=vpc, behind=True, **WORKS, **facts)


@given(
    hosts=st.lists(st.tuples(st.booleans(), st.sampled_from(["acme", "globex"])), min_size=1, max_size=8),
    most=st.integers(1, 4),
    per_vpc=st.integers(1, 3),
    pace=st.randoms(use_true_random=False),
)
def test_all_dpus_are_flashed_and_the_limit_of_unavailable_hosts_is_kept(
    hosts: list[tuple[bool, str]], most: int, per_vpc: int, pace: Any
) -> None:
    region = Simulated([drawn(number, *facts) for number, facts in enumerate(hosts)])
    for round_ in range(40 * len(hosts)):
        steps, slow = decide(region.hosts.values(), most, per_vpc), round_ < 10
        pace.shuffle(steps)
        region.take(steps[: pace.randint(0, len(steps))] if slow else steps)  # A run may be interrupted anywhere.
        for name in region.hosts:
            if not slow or pace.random() < 0.7:
                region.go_on(name)
        away = Counter(host.vpc for host in region.hosts.values() if host.away)
        assert away.total() <= most
        assert max(away.values(), default=0) <= per_vpc

    ends = {(host.marked, host.ready, host.behind, host.away) for host in region.hosts.values()}
    assert ends == {(True, True, False, False)}
