"""Status of Helm releases, from the HelmReleases of Flux."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.environment import Environment
from jacquard.observe.observation import Observation
from jacquard.observe.region_status import assemble
from jacquard.observe.release_status import ReleaseStatus

Object = dict[str, Any]
READY = ReleaseStatus(
    cluster="management", name="cert-manager", chart="cert-manager", chart_version="1.18.2", ready=True, why=None
)


def release(seen: Observation, name: str = "cert-manager") -> Object:
    return next(body for body in seen.of("HelmRelease") if body["metadata"]["name"] == name)


def test_a_ready_release_has_no_reason(laptop: Environment, seen: Observation) -> None:
    status = assemble(laptop, seen)

    assert status.releases == [READY]
    assert status.settled


@pytest.mark.parametrize(
    ("ready", "why"),
    [
        ({"status": "False", "message": "install timed out"}, "is not ready: install timed out"),
        ({"status": "Unknown", "reason": "Progressing"}, "is not ready: Progressing"),
        ({"status": "False"}, "is not ready: no reason reported"),
        ({"observedGeneration": 0}, "has a change that Flux has not observed yet"),
    ],
)
def test_a_region_with_a_release_that_is_not_ready_is_not_settled(
    laptop: Environment, seen: Observation, ready: Object, why: str
) -> None:
    release(seen)["status"]["conditions"][0].update(ready)

    status = assemble(laptop, seen)

    assert [(one.ready, one.why) for one in status.releases] == [(False, why)]
    assert status.why == [f"release cert-manager of management {why}"]


def test_a_release_in_the_namespace_of_a_cluster_belongs_to_it(laptop: Environment, seen: Observation) -> None:
    release(seen)["metadata"]["namespace"] = "acme-train"

    assert [one.cluster for one in assemble(laptop, seen).releases] == ["acme-train"]


@pytest.mark.parametrize("change", [{"spec": {"suspend": True}}, {"metadata": {"name": "shop", "labels": {}}}])
def test_suspended_releases_and_releases_of_others_do_not_count(
    laptop: Environment, seen: Observation, change: Object
) -> None:
    body = release(seen)
    body["status"]["conditions"][0].update(status="False")
    for field, value in change.items():
        body[field] |= value

    status = assemble(laptop, seen)

    assert status.releases == []
    assert status.settled
