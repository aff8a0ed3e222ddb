"""One rule of Node Feature Discovery per cluster counts devices and labels nodes that are as their types declare."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.lookups.add_ons import hardware
from components.lookups.health.node_checks import library_checks
from components.lookups.pools import clusters
from components.render.add_ons.declared_hardware import UNLIKE, declared_hardware, is_verified, label
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction
from components.specs.hosts.instance_types import InstanceType
from components.specs.reading.loader import load_environment
from tests.support.add_ons.cluster_shape import facts
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.rendered_objects import objects_of


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


def rules(*kinds: InstanceType, action: HealthAction | None = None, autoscaling: bool = False) -> list[dict[str, Any]]:
    [rule] = declared_hardware("acme-train", kinds, action, autoscaling=autoscaling)
    found: list[dict[str, Any]] = rule.body["spec"]["rules"]
    return found


def test_devices_are_counted_once_and_compared_with_each_type(laptop: Environment) -> None:
    types = laptop.instance_types.by_name

    *counts, gpus, plain = rules(types["h100-ib-8"], types["cpu-gen4"])

    assert [(rule["varsTemplate"], rule["matchFeatures"]) for rule in counts] == [
        (
            "jacquard-10de-2330={{ .pci.device | len }}",
            [
                {
                    "feature": "pci.device",
                    "matchExpressions": {
                        "vendor": {"op": "In", "value": ["10de"]},
                        "class": {"op": "In", "value": ["0300", "0302"]},
                        "device": {"op": "In", "value": ["2330"]},
                    },
                }
            ],
        ),
        *(
            (
                f"jacquard-15b3-{device}={{{{ .pci.device | len }}}}",
                [
                    {
                        "feature": "pci.device",
                        "matchExpressions": {
                            "vendor": {"op": "In", "value": ["15b3"]},
                            "device": {"op": "In", "value": [device]},
                        },
                    }
                ],
            )
            for device in ("1021", "a2dc")
        ),
    ]
    assert gpus == {
        "name": "hardware of h100-ib-8",
        "labels": {"hardware.jacquard.dev/h100-ib-8": "as-declared"},
        "matchFeatures": [
            {
                "feature": "rule.matched",
                "matchExpressions": {
                    "jacquard-10de-2330": {"op": "In", "value": ["8"]},
                    "jacquard-15b3-1021": {"op": "In", "value": ["8"]},
                    "jacquard-15b3-a2dc": {"op": "In", "value": ["2"]},
                },
            }
        ],
    }
    assert plain["matchFeatures"][0]["matchExpressions"] == {"jacquard-15b3-a2dc": {"op": "In", "value": ["2"]}}


@pytest.mark.parametrize(
    ("action", "effect"), [(HealthAction.QUARANTINE, "NoSchedule"), (HealthAction.NOTIFY, "PreferNoSchedule")]
)
def test_nodes_with_gpus_that_are_like_no_type_are_tainted(
    laptop: Environment, action: HealthAction, effect: str
) -> None:
    types = laptop.instance_types.by_name

    *_, every_gpu, hopper, newer, plain, unlike = rules(
        types["h100-ib-8"], types["h200-ib-8"], types["cpu-gen4"], action=action
    )

    assert every_gpu["varsTemplate"] == "jacquard-10de-gpus={{ .pci.device | len }}"
    assert [*hopper["labels"], *newer["labels"], *plain["labels"]] == [
        f"hardware.jacquard.dev/{name}" for name in ("h100-ib-8", "h200-ib-8", "cpu-gen4")
    ]
    assert unlike == {
        "name": "GPUs unlike any instance type",
        "taints": [{"key": UNLIKE, "effect": effect}],
        "matchFeatures": [
            {
                "feature": "rule.matched",
                "matchExpressions": {
                    "jacquard-10de-gpus": {"op": "Exists"},
                    "hardware.jacquard.dev/h100-ib-8": {"op": "DoesNotExist"},
                    "hardware.jacquard.dev/h200-ib-8": {"op": "DoesNotExist"},
                },
            }
        ],
    }


def test_clusters_without_gpus_have_no_taint(laptop: Environment) -> None:
    made = rules(laptop.instance_types.by_name["cpu-gen4"], action=HealthAction.QUARANTINE)

    assert [rule for rule in made if "taints" in rule] == []


def test_the_alert_is_about_the_taint() -> None:
    assert f'key="{UNLIKE}"' in str(library_checks()["devices-missing"].expression)


def test_gpus_of_an_unknown_model_are_counted_by_their_class(laptop: Environment) -> None:
    kind = laptop.instance_types.by_name["h100-ib-8"]
    other = kind.model_copy(update={"gpu": kind.gpu and kind.gpu.model_copy(update={"model": "next-gpu"})})

    assert rules(other)[0]["varsTemplate"].startswith("jacquard-10de-gpus=")
    assert rules(other)[0]["matchFeatures"][0]["matchExpressions"].keys() == {"vendor", "class"}


def test_a_type_without_known_devices_has_no_rule(laptop: Environment) -> None:
    kind = laptop.instance_types.by_name["cpu-gen4"]
    unknown = kind.model_copy(update={"dpu": kind.dpu.model_copy(update={"model": "other-dpu"})})
    features = tuple(entry for entry in laptop.add_ons.add_ons if entry.name == "node-features")

    assert not is_verified(features, (unknown,))
    assert is_verified(features, (kind,))
    assert not is_verified((), (kind,))
    assert facts().hardware == ()


def test_each_cluster_with_the_add_on_has_one_rule_after_its_release(laptop: Environment) -> None:
    for placed in clusters(laptop):
        [given] = of_cluster(laptop, placed)
        items = objects_of(given)
        kinds = [item.kind for item in items]

        assert kinds.count("NodeFeatureRule") == 1
        [release] = [item for item in items if item.kind == "HelmRelease" and item.name == "node-features"]
        assert release.readiness is not None
        written = items[kinds.index("NodeFeatureRule")].body["spec"]["rules"]
        labels = {key for rule in written for key in rule.get("labels", {})}
        assert labels == {label(kind.name) for kind in hardware(laptop, placed)}


def test_the_autoscaler_finds_a_label_on_nodes_with_all_their_gpus(laptop: Environment) -> None:
    types = laptop.instance_types.by_name

    *_, gpus, plain = rules(types["h100-ib-8"], types["cpu-gen4"], autoscaling=True)

    assert gpus["labels"] == {label("h100-ib-8"): "as-declared", "cluster-api/accelerator": "h100-ib-8"}
    assert plain["labels"].keys() == {label("cpu-gen4")}
