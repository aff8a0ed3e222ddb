"""Add-on values in the data: their position in the release, and values that cannot be set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.lookups.add_ons import overrides
from components.render.add_ons.add_on_monitors import MONITORED
from components.render.add_ons.add_on_values import VALUES
from components.render.add_ons.add_ons import AddOnsInput
from components.render.add_ons.metrics_writer import MetricsWriter
from components.render.add_ons.reserved_values import nested_paths, reservation_reason
from components.render.overrides import Override, overridden
from components.specs.add_ons.add_on_values import AddOnValuesSpec, ChartValue
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.struct import replace
from tests.support.add_ons.cluster_shape import facts
from tests.support.objects.rendered_objects import objects_of

FACTS = facts(
    nodes=300, nvlink={"gb200": 36}, gpu_sharing=(GpuSharingSpec(mig="1g.20gb"), GpuSharingSpec(time_slices=4))
)


def override(path: str, value: ChartValue) -> Override:
    return Override(path=path, value=value, reason="NET-311")


def leaves(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def test_a_value_is_merged_into_existing_ones() -> None:
    values = {"speaker": {"tolerations": ["all"]}, "crds": True}

    found = overridden(values, (override("speaker.logLevel", "debug"), override("frr.debug.enabled", value=True)))

    assert found == {
        "speaker": {"tolerations": ["all"], "logLevel": "debug"},
        "crds": True,
        "frr": {"debug": {"enabled": True}},
    }
    assert values == {"speaker": {"tolerations": ["all"]}, "crds": True}


def test_a_value_of_a_cluster_overrides_that_of_the_region(laptop: Environment) -> None:
    every = {
        "metallb": AddOnValuesSpec(reason="all", values={"speaker.logLevel": "warn", "controller.logLevel": "warn"})
    }
    own = {"metallb": AddOnValuesSpec(reason="NET-311", values={"speaker.logLevel": "debug"})}
    region = laptop.region.model_copy(update={"add_on_values": every})
    cluster = laptop.tenants[0].clusters[0].model_copy(update={"add_on_values": own})

    found = overrides(laptop.model_copy(update={"region": region}), cluster)

    assert [str(one) for one in found["metallb"]] == [
        "speaker.logLevel=debug (NET-311)",
        "controller.logLevel=warn (all)",
    ]


def test_a_release_only_names_changed_values_with_their_reasons(inputs_of: Any) -> None:
    plain = inputs_of(AddOnsInput)[0]
    given = {"metallb": (override("speaker.logLevel", "debug"), override("controller.logLevel", "warn"))}

    before, after = objects_of(plain), objects_of(replace(plain, overrides=given))

    [changed] = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed[1].body["metadata"]["annotations"] == {
        "jacquard.dev/overridden": "speaker.logLevel=debug (NET-311); controller.logLevel=warn (NET-311)"
    }
    assert changed[1].body["spec"]["values"]["speaker"] == {
        **changed[0].body["spec"]["values"]["speaker"],
        "logLevel": "debug",
    }


@pytest.mark.parametrize("writer", [None, MetricsWriter(address=Address("10.3.0.249"), agent=True)])
@pytest.mark.parametrize("system_pool", [False, True])
@pytest.mark.parametrize("chart", VALUES)
def test_values_of_the_library_are_reserved_or_tunable_defaults(
    laptop: Environment, chart: str, *, system_pool: bool, writer: MetricsWriter | None
) -> None:
    monitored = MONITORED[chart]("monitoring") if chart in MONITORED else {}
    written = [*leaves(VALUES[chart](replace(FACTS, system_pool=system_pool, writer=writer))), *leaves(monitored)]
    tunable = {path for one in laptop.versions.charts if one.name == chart for path in one.tunable}

    assert {path for path in written if not reservation_reason(chart, path)} <= tunable


@pytest.mark.parametrize(
    ("chart", "path", "small", "large"),
    [
        ("gpu-operator", "operator", "550Mi", "2950Mi"),
        ("node-feature-discovery", "master", "4296Mi", "6696Mi"),
        ("kueue", "controllerManager.manager", "712Mi", "3112Mi"),
        ("node-readiness-controller", "", "328Mi", "2728Mi"),
    ],
)
def test_controllers_that_keep_all_nodes_get_memory_for_them(chart: str, path: str, small: str, large: str) -> None:
    def limit(nodes: int) -> Any:
        values: Any = VALUES[chart](facts(nodes=nodes))
        for key in filter(None, path.split(".")):
            values = values[key]
        return values["resources"]["limits"]["memory"]

    assert (limit(0), limit(100), limit(1201), limit(1300)) == (small, small, large, large)


def test_parents_of_a_reserved_value_are_reserved_and_siblings_are_not() -> None:
    assert reservation_reason("gpu-operator", "driver") == "the golden image contains the driver"
    assert (
        reservation_reason("metrics-server", "resources")
        == reservation_reason("metrics-server", "resources.requests.cpu")
        != ""
    )
    assert reservation_reason("metrics-server", "resources.limits.memory") == ""
    assert reservation_reason("gpu-operator", "driverless") == ""


def test_nested_values_are_found_with_other_paths_in_between() -> None:
    assert nested_paths(["a", "a-b", "a.b"]) == "a, a.b"
    assert nested_paths(["a.b", "a.bc", "ab"]) == ""
