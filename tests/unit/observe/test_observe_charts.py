"""Status of pinned charts, from Flux objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.struct import asdict
from jacquard.observe.chart_status import ChartStatus
from jacquard.observe.observation import Observation, observe
from jacquard.observe.region_status import assemble
from tests.support.changes.chart_rollouts import PROMOTED
from tests.support.data.small_region import changed
from tests.support.objects.settled_region import settled_region

Object = dict[str, Any]
DIGEST = "sha256:5e00f4a3cccbb0cb550daf37c3da88a8c39720ef9e057e8cf179fb20a05bdd9f"
OTHER = "sha256:" + "c" * 64


@pytest.fixture(scope="module")
def pinned(laptop: Environment) -> Environment:
    """Return laptop with Cilium pinned to its current version, as after a rollback."""
    older = laptop.versions.releases("cilium")[0]
    newer = older.model_copy(update={"version": "1.20.1", "digest": OTHER})
    versions = changed(laptop.versions, charts=(*laptop.versions.charts, newer))
    offered = changed(laptop, versions=versions)
    there = changed(offered, image_pins=Promotion(offered, PROMOTED, "data").all_at_once())
    return changed(there, image_pins=Promotion(there, PROMOTED, None).all_at_once())


@pytest.fixture
def seen(pinned: Environment) -> Observation:
    return settled_region(pinned)


def get(seen: Observation, kind: str, name: str = "cilium") -> Object:
    place = {"namespace": "acme-train", "name": name}
    return next(body for body in seen.of(kind) if place.items() <= body["metadata"].items())


def found(pinned: Environment, seen: Observation) -> ChartStatus:
    return next(one for one in assemble(pinned, seen).charts if one.cluster == "acme-train")


def test_an_installed_chart_on_healthy_nodes_is_settled(pinned: Environment, seen: Observation) -> None:
    assert asdict(found(pinned, seen)) == {
        "chart": "cilium",
        "cluster": "acme-train",
        "version": "1.20.0",
        "applied": DIGEST,
        "installed": DIGEST,
        "settled": True,
        "settled_since": "2026-11-21T08:00:00+00:00",
        "why": [],
    }
    assert assemble(pinned, seen).settled


def condition(kind: str, **fields: Any) -> Callable[[Observation], None]:
    return lambda seen: get(seen, kind)["status"]["conditions"][0].update(fields)


UNSETTLED: dict[str, tuple[Callable[[Observation], None], str]] = {
    "no source": (
        lambda seen: seen.of("OCIRepository").remove(get(seen, "OCIRepository")),
        "its OCIRepository does not exist",
    ),
    "a release of another source": (
        lambda seen: get(seen, "HelmRelease")["spec"]["chartRef"].update(namespace="operators"),
        "its HelmRelease does not exist",
    ),
    "a source that Flux has not seen": (
        condition("OCIRepository", observedGeneration=0),
        "its OCIRepository has a change that Flux has not observed yet",
    ),
    "a release that failed": (
        condition("HelmRelease", status="False", message="upgrade failed: timed out"),
        "its HelmRelease is not ready: upgrade failed: timed out",
    ),
    "another chart that is installed": (
        lambda seen: get(seen, "HelmRelease")["status"]["history"][0].update(ociDigest=OTHER),
        "Flux has not installed the pinned version yet",
    ),
    "a node that is not well": (
        lambda seen: get(seen, "MachineDeployment", name="acme-train-system-a04")["metadata"].update(generation=3),
        "system a04: the controller has not observed the last change yet",
    ),
}


@pytest.mark.parametrize("case", UNSETTLED)
def test_an_unsettled_chart_states_the_reason(pinned: Environment, seen: Observation, case: str) -> None:
    spoil, why = UNSETTLED[case]
    spoil(seen)

    one = found(pinned, seen)
    assert (one.settled, one.settled_since, one.why[0]) == (False, None, why)
    assert f"charts/cilium/acme-train: {one.why[0]}" in assemble(pinned, seen).why


def test_a_failed_release_of_a_pinned_chart_is_reported_once(pinned: Environment, seen: Observation) -> None:
    get(seen, "HelmRelease")["status"]["conditions"][0].update(status="False", message="upgrade failed")

    assert assemble(pinned, seen).why == ["charts/cilium/acme-train: its HelmRelease is not ready: upgrade failed"]


def test_sources_are_read_only_if_a_chart_is_pinned(laptop: Environment, pinned: Environment) -> None:
    asked: list[str] = []

    class Api:
        def each(self, _version: str, kind: str, **_: Any) -> list[Object]:
            asked.append(kind)
            return []

    for environment, kinds in ((laptop, {"HelmRelease"}), (pinned, {"HelmRelease", "OCIRepository"})):
        asked.clear()
        observe(environment, lambda *_: Api())  # type: ignore[arg-type,return-value]
        assert {"HelmRelease", "OCIRepository"} & set(asked) == kinds
