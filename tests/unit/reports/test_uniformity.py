"""One tuple for each pool, and every deviation from it, with its waiver."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from components.reports.uniformity import Deviation, LiveNode, PoolUniformity, Source, to_json, uniformity
from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.region.policy import RuleId, WaiverSpec
from tests.support.changes.rollouts import NEW, OLD, rollable, with_pins
from tests.support.data.small_region import changed

POOL = "one-one/rack"
WAIVER = WaiverSpec(
    rule=RuleId.UNIFORMITY,
    subject="n1-u1",
    reason="kernel of the vendor",
    owner="ops@cloud.example",
    ticket="CHG-1",
    expires=dt.date(2027, 1, 1),
)
SHOWN = {
    "subject": "n1-u1",
    "reason": "kernel of the vendor",
    "owner": "ops@cloud.example",
    "ticket": "CHG-1",
    "expires": "2027-01-01",
}


def only(found: list[PoolUniformity]) -> PoolUniformity:
    [pool] = found
    return pool


def node(slot: int, domain: str = "n1", **values: str) -> LiveNode:
    host = f"n1-u{slot}"
    return LiveNode(
        cluster="one-one", name=f"node-{slot}", pool="rack", failure_domain=domain, host=host, values=values
    )


def test_a_pool_is_one_tuple_of_image_firmware_and_configuration(region: Environment) -> None:
    pools = {pool.pool: pool for pool in uniformity(region)}

    assert list(pools) == ["acme-train/infer", "acme-train/system", "acme-train/train", "globex-lab/lab"]
    train = pools["acme-train/train"]
    config = train.values["kubelet_config"]
    assert (train.nodes, train.uniform, train.rollout, train.seen) == (10, True, None, None)
    assert config.startswith("sha256:")
    assert len(config) == len("sha256:") + 64
    assert dict(train.values) == {
        "containerd": "2.1.4",
        "doca": "3.1.0",
        "dpu_image": "bfb-3.2.0",
        "dpu_interface": "enp1s0f0np0",
        "encrypted_scratch": False,
        "fabric_manager": True,
        "gpu_driver": "580.95.05",
        "gpudirect_rdma": True,
        "image": OLD,
        "imex": False,
        "image_sha256": region.image_pins.node("acme-train/train/a01").sha256,
        "kernel": "6.8.0-84",
        "kubelet": "v1.35.1",
        "kubelet_config": config,
        "nfs_client": "vastnfs-4.0.34",
        "nfs_rdma": True,
        "rdma_exclusive": False,
        "registry_hosts": True,
        "vfio_devices": (),
        "volume_groups": ("nvme",),
    }
    assert config != pools["acme-train/infer"].values["kubelet_config"]


def test_settings_and_versions_of_the_baseline_belong_to_the_tuple(region: Environment) -> None:
    [baseline, *_] = region.firmware.firmware_baselines
    pins = region.image_pins
    intents = {name: changed(intent, firmware=baseline.content) for name, intent in pins.intents.items()}
    values = uniformity(changed(region, image_pins=changed(pins, intents=intents)))[0].values

    assert values["firmware_baseline"] == baseline.name
    assert {key: value for key, value in values.items() if key.startswith("bios.")} == {
        f"bios.{name}": str(value) for name, value in baseline.bios.items()
    }
    assert values["firmware.bmc"] == baseline.components["bmc"].version


def test_an_open_rollout_is_named_with_its_differences() -> None:
    region = rollable({"one": 3})
    begun = with_pins(region, Promotion(region, POOL, NEW).next_wave(1))

    pool = only(uniformity(begun))

    assert (pool.uniform, pool.rollout, pool.values["image"]) == (False, {"to": NEW, "wave": 1}, OLD)
    found = {item.property: item for item in pool.deviations}
    assert {item.subject for item in pool.deviations} == {f"{POOL}/n1"}
    assert found["kernel"] == Deviation(
        subject=f"{POOL}/n1",
        property="kernel",
        expected="6.8.0-84",
        found="6.8.0-85",
        source=Source.DATA,
        waiver=None,
    )


def test_a_node_is_compared_with_the_declaration_of_its_group() -> None:
    region = rollable({"one": 1})
    live = [node(1, kernel="6.8.0-84", kubelet="v1.35.1"), node(2, kernel="6.5.0", kubelet="v1.35.1"), node(3), node(4)]

    pool = only(uniformity(region, live))

    assert pool.deviations == (
        Deviation(
            subject="n1-u2",
            property="kernel",
            expected="6.8.0-84",
            found="6.5.0",
            source=Source.CLUSTER,
            waiver=None,
        ),
    )
    assert (pool.seen, pool.not_reported["kernel"], pool.not_reported["gpu_driver"]) == (4, 2, 4)


@pytest.mark.parametrize("subject", ["n1-u1", POOL, f"{POOL}/n1"])
def test_a_waiver_of_host_group_or_pool_is_named(subject: str) -> None:
    region = rollable({"one": 1})
    waived = changed(region, waivers=changed(region.waivers, waivers=(changed(WAIVER, subject=subject),)))

    [deviation] = only(uniformity(waived, [node(1, kernel="6.5.0")])).deviations

    assert deviation.waiver == SHOWN | {"subject": subject}


def test_waivers_of_other_rules_or_subjects_do_not_count() -> None:
    region = rollable({"one": 1})
    others = (changed(WAIVER, rule="unsigned-image"), changed(WAIVER, subject="n1-u2"))
    waived = changed(region, waivers=changed(region.waivers, waivers=others))

    [deviation] = only(uniformity(waived, [node(1, kernel="6.5.0")])).deviations

    assert deviation.waiver is None


@pytest.mark.parametrize(
    ("live", "uniform"),
    [(None, True), ([], None), ([1, 2, 3], None), ([1, 2, 3, 4], True)],
)
def test_unobserved_nodes_are_never_reported_as_uniform(live: list[int] | None, uniform: object) -> None:
    nodes = None if live is None else [node(slot, kernel="6.8.0-84") for slot in live]

    assert only(uniformity(rollable({"one": 1}), nodes)).uniform is uniform


def test_a_node_outside_the_failure_domains_of_its_pool_deviates() -> None:
    [deviation] = only(uniformity(rollable({"one": 1}), [node(1, domain="a1")])).deviations

    assert (deviation.subject, deviation.property, deviation.expected, deviation.found) == (
        "n1-u1",
        "failure_domain",
        "n1",
        "a1",
    )


def test_the_result_does_not_depend_on_the_order_of_nodes() -> None:
    region = rollable({"one": 1})
    live = [node(slot, kernel="6.5.0", kubelet="v1.30.0") for slot in (3, 1, 2)]

    def text(nodes: list[LiveNode]) -> str:
        return json.dumps(to_json("laptop", uniformity(region, nodes), ["b", "a"]))

    answer: dict[str, Any] = json.loads(text(live))
    assert text(live) == text(live[::-1])
    assert (answer["unreachable"], answer["pools"][0]["uniform"]) == (["a", "b"], False)
    assert [item["subject"] for item in answer["pools"][0]["deviations"]][::2] == ["n1-u1", "n1-u2", "n1-u3"]
