"""Properties of a node on IronCore metal, from its claim, server and BMC."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.reports.uniformity import LiveNode, uniformity
from components.specs.environment import Environment
from jacquard.observe import ironcore_servers
from jacquard.observe.nodes.live import live_nodes, management_kinds
from jacquard.observe.observation import Observation
from tests.support.objects.backend_objects import boot_configuration, ironcore_host, of_kind

Object = dict[str, Any]
CLUSTER = "vireo-train"
GROUP = "vireo-train-h100-a"
IMAGE = "eth-2026.11.1"


def a_node(provider: str | None) -> Object:
    labels = {"node-restriction.kubernetes.io/pool": "h100", "node-restriction.kubernetes.io/failure-domain": "a"}
    labels["node.jacquard.dev/image"] = IMAGE
    return {
        "metadata": {"name": f"{GROUP}-0", "labels": labels},
        "spec": {"providerID": provider} if provider else {},
        "status": {"nodeInfo": {"kubeletVersion": "v1.35.2+k0s", "containerRuntimeVersion": "containerd://2.1.5"}},
    }


def look(south: Environment, node: Object, *bodies: Object) -> LiveNode:
    seen = {(MANAGEMENT, kind): of_kind(list(bodies), kind) for _, kind in management_kinds(south)}
    [found] = live_nodes(south, Observation(objects={**seen, (CLUSTER, "Node"): [node]}))
    return found


NODE_VALUES = {"image": IMAGE, "kubelet": "v1.35.2", "containerd": "2.1.5"}
SHA256 = "f14f184fe4747cc3c693daee2073a7f26f486d0bcc907c8efbfb4613fc7c6956"


def test_a_node_on_ironcore_is_read_from_its_claim_its_server_and_its_bmc(south: Environment) -> None:
    claim = (CLUSTER, f"{GROUP}-0")
    other = ironcore_host("a02-u01", state="Reserved", claim=(CLUSTER, f"{GROUP}-1"))
    mine = ironcore_host("a01-u01", state="Reserved", claim=claim)
    boot = boot_configuration(*claim, "a01-u01", f"registry.example/node@sha256:{SHA256}")

    found = look(south, a_node(f"metal://{CLUSTER}/{GROUP}-0"), *other, *mine, boot)

    assert found == LiveNode(
        cluster=CLUSTER,
        name=f"{GROUP}-0",
        pool="h100",
        failure_domain="a",
        host="a01-u01",
        values={**NODE_VALUES, "image_sha256": SHA256, "firmware.bios": "2.8.1", "firmware.bmc": "25.02.1"},
    )


def test_values_that_a_server_does_not_report_are_missing(south: Environment) -> None:
    claim = (CLUSTER, f"{GROUP}-0")
    bmc, server = ironcore_host("a01-u01", state="Reserved", claim=claim)
    boot = boot_configuration(*claim, "a01-u01", "registry.example/node:latest")
    del bmc["status"], server["status"]

    found = look(south, a_node(f"metal://{CLUSTER}/{GROUP}-0"), bmc, server, boot)

    assert (found.host, found.values) == ("a01-u01", NODE_VALUES)


def test_firmware_is_compared_as_far_as_servers_report_it(south: Environment) -> None:
    claim = (CLUSTER, f"{GROUP}-0")
    bmc, server = ironcore_host("a01-u01", state="Reserved", claim=claim)
    bmc["status"]["firmwareVersion"] = "24.11.2"
    [baseline] = (item for item in south.firmware.firmware_baselines if item.name == "hgx-2026.11")
    pins = south.image_pins
    intents = {name: intent.model_copy(update={"firmware": baseline.content}) for name, intent in pins.intents.items()}
    spec = south.model_copy(update={"image_pins": pins.model_copy(update={"intents": intents})})

    found = look(spec, a_node(f"metal://{CLUSTER}/{GROUP}-0"), bmc, server)

    [pool] = [pool for pool in uniformity(spec, [found]) if pool.pool == f"{CLUSTER}/h100"]
    assert [(item.subject, item.property, item.expected, item.found) for item in pool.deviations] == [
        ("a01-u01", "firmware.bmc", "25.02.1", "24.11.2")
    ]
    reported = set(pool.values) - set(pool.not_reported)
    assert reported == {"image", "kubelet", "containerd", "firmware.bios", "firmware.bmc"}
    assert {"bios.PcieAspm", "firmware.nic", "firmware.gpu"} <= set(pool.not_reported)


@pytest.mark.parametrize("provider", [None, f"metal://{CLUSTER}/gone", f"metal3://{CLUSTER}/a01-u01/x", "metal://x"])
def test_a_node_without_a_claim_is_read_from_the_node(south: Environment, provider: str | None) -> None:
    free = ironcore_host("a01-u01", state="Available")

    found = look(south, a_node(provider), *free)

    assert (found.host, found.values) == (None, NODE_VALUES)


@pytest.mark.parametrize(
    ("waiting", "state"), [("True", "Reserved WaitingForPowerOff"), ("False", "Reserved"), (None, "Reserved")]
)
def test_a_released_server_that_stays_on_is_reported(waiting: str | None, state: str) -> None:
    bmc, server = ironcore_host("a01-u01", state="Reserved", claim=(CLUSTER, "gone"))
    if waiting:
        server["status"]["conditions"] = [{"type": "WaitingForPowerOff", "status": waiting}]

    assert list(ironcore_servers.states(lambda kind: of_kind([bmc, server], kind))) == [("a01-u01", state)]
