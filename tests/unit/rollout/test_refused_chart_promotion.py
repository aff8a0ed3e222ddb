"""Rejected chart promotions: releases that are invalid for a cluster, and charts that are not promoted."""

from __future__ import annotations

from typing import Any

import pytest

from components.rollout.promotion import Promotion
from components.specs.reading.problems import SpecError
from tests.support.changes.chart_rollouts import (
    CHART,
    NEW,
    PROMOTED,
    VERSIONS,
    at,
    with_newer_release,
)


def test_a_release_without_the_set_values_is_not_promoted(laptop: Any) -> None:
    with_newer_release(laptop)
    laptop.edit(
        "region.yaml",
        "spares: 2%",
        "add_on_values: {cilium: {reason: drops, values: {debug.enabled: true}}}\nspares: 2%",
    )
    before = laptop.load()

    with pytest.raises(SpecError) as caught:
        Promotion(before, PROMOTED, NEW)

    assert [problem.text for problem in caught.value.problems] == [
        laptop.resolved(
            f"add_on_values.cilium.values.debug.enabled of {cluster}: 'debug.enabled' is not in tunable of"
            " cilium 1.20.1 (../catalog/versions.yaml:<charts.cilium#2>: none); remove it"
        )
        for cluster in ("acme-train", "globex-lab")
    ]
    laptop.edit(VERSIONS, f'"sha256:{"c" * 64}"', f'"sha256:{"c" * 64}", tunable: {{debug.enabled: boolean}}')
    assert Promotion(laptop.load(), PROMOTED, NEW).plan()


@pytest.mark.parametrize(
    ("row", "to", "why"),
    [
        ("", "1.20.9", "cilium has no such release in {} (declared: 1.20.0, 1.20.1); add it below these"),
        (
            ', revoked: "loses packets"',
            NEW,
            "cilium 1.20.1 is revoked: loses packets (chart-outside-channel); select another release",
        ),
        (
            ", channel: [candidate]",
            NEW,
            (
                "cilium 1.20.1 is in candidate, not in channel stable of region.yaml (chart-outside-channel); add"
                " stable to its channel in {}:<'1.20.1'>"
            ),
        ),
    ],
)
def test_a_cluster_gets_no_release_that_it_may_not_have(laptop: Any, row: str, to: str, why: str) -> None:
    with_newer_release(laptop)
    laptop.edit(VERSIONS, f'{"c" * 64}"', f'{"c" * 64}"{row}')
    with pytest.raises(SpecError) as caught:
        Promotion(laptop.load(), PROMOTED, to)

    [problem] = caught.value.problems
    assert problem.file == (f"--to {to}" if to != NEW else f"--to {NEW} for {PROMOTED}")
    assert problem.text.partition("; did you")[0] == laptop.resolved(why.format(VERSIONS))


def test_a_release_without_a_required_fix_is_not_a_target(laptop: Any) -> None:
    laptop.edit("tenants/globex.yaml", "[cilium, node-features, gpus]", "[cilium, node-features, gpus, kueue]")
    with_newer_release(laptop, "kueue", "0.17.2")

    with pytest.raises(SpecError) as caught:
        Promotion(laptop.load(), "charts/kueue", "0.17.2")

    [problem] = caught.value.problems
    assert problem.text == (
        "kueue 0.17.2 is not supported, because older versions end pods on nodes with taints that only the flavor"
        " tolerates, if the pods wait for the scheduler for 100 ms (kubernetes-sigs/kueue#11228); select a version from"
        " 0.17.3"
    )
    laptop.edit(VERSIONS, "version: 0.17.2", "version: 0.17.3")
    assert Promotion(laptop.load(), "charts/kueue", "0.17.3").plan()


def test_a_release_with_a_fault_that_a_waiver_permits_is_a_target(laptop: Any) -> None:
    slurm = "[cilium, node-features, gpus, cert-manager, monitoring, slurm]"
    laptop.edit("tenants/globex.yaml", "[cilium, node-features, gpus]", slurm)
    with_newer_release(laptop, "slurm-operator", "1.2.0")

    assert Promotion(laptop.load(), "charts/slurm-operator", "1.2.0").plan()


def test_an_older_release_is_only_reached_by_a_rollback(laptop: Any) -> None:
    with_newer_release(laptop)
    with_newer_release(laptop, CHART, "1.20.2", "d")
    environment = laptop.load()
    newest = at(environment, Promotion(environment, PROMOTED, "data").all_at_once())
    expected = (
        f"1.20.1 is older than 1.20.2, which clusters run; roll back with jacquard promote laptop {PROMOTED} --rollback"
    )
    with pytest.raises(SpecError, match=expected):
        Promotion(newest, PROMOTED, NEW)


def test_a_chart_without_clusters_is_reported(laptop: Any) -> None:
    with pytest.raises(SpecError, match="no cluster has 'charts/kamaji'"):
        Promotion(laptop.load(), "charts/kamaji", "data")


def test_an_operator_delivered_by_manifests_is_not_promoted_as_a_chart(laptop: Any) -> None:
    expected = (
        r"versions.yaml:\d+  manifests\[\d\]: 'charts/kubevirt-operator' is installed from manifests, without waves;"
        r" edit version and digest here"
    )
    with pytest.raises(SpecError, match=expected):
        Promotion(laptop.load(), "charts/kubevirt-operator", "data")
