"""Faults of nodes on hosts that claims select, and which the backend does not reboot."""

from __future__ import annotations

import datetime as dt

from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from jacquard.observe.backends import bare_metal
from jacquard.observe.nodes.faults import management_kinds, node_faults
from jacquard.observe.observation import Observation
from tests.support.objects.faulty_node_objects import node

NOW = dt.datetime(2026, 11, 20, 9, tzinfo=dt.UTC)


def test_without_remediation_by_reboot_a_user_takes_the_host_out_of_service(south: Environment) -> None:
    broken = node("x1", pool="h100", GpuLost="True")
    broken["spec"]["providerID"] = f"{bare_metal(south).provider}solstice/claim-x1"
    claim = {"namespace": "solstice", "name": "claim-x1"}
    server = {"metadata": {"name": "s1"}, "spec": {"serverClaimRef": claim, "bmcRef": {"name": "b01-u01"}}}
    objects = {("solstice-lab", "Node"): [broken]}

    [known] = node_faults(south, Observation(objects={**objects, (MANAGEMENT, "Server"): [server]}, at=NOW))
    [unknown] = node_faults(south, Observation(objects=objects, at=NOW))

    after = "so that no claim takes the host; the node is replaced after the hold time, also if no host is free"
    for fault, host in ((known, "b01-u01"), (unknown, None)):
        assert fault.host == host
        assert fault.next_action == f"jacquard host eu-south-03a {host or 'HOST'} --to triage --reason TEXT, {after}"
    assert ("metal.ironcore.dev/v1alpha1", "Server") in management_kinds(south)
