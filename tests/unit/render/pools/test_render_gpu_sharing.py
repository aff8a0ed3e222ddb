"""GPUs that pods share: node labels, configuration of the device plugin, operator values, and pod resources."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from components.lookups.add_ons import gpu_sharing
from components.lookups.pools import clusters
from components.render.add_ons.add_ons import AddOnsInput
from components.render.manifest import objects
from components.render.pools.gpu_sharing import configurations, offered, values
from components.render.pools.node_pool import NodePoolInput
from components.render.pools.template_revision_1 import build
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import GpuSpec
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.changes.node_intents import INTENT
from tests.support.objects.rendered_objects import objects_of

CUT, SLICED = GpuSharingSpec(mig="1g.20gb"), GpuSharingSpec(time_slices=4)
H100 = GpuSpec(model="h100", count=8, mig={"1g.20gb": 4})
LABELS = {CUT: "nvidia.com/mig.config=all-1g.20gb", SLICED: "nvidia.com/device-plugin.config=time-slices-4"}


def labelled(bootstrap: Any) -> list[str]:
    """Return the node labels in the configuration of the kubelet, or of the worker of k0s."""
    spec = bootstrap["template"]["spec"]
    if "args" in spec:
        [labels] = [one.removeprefix("--labels=") for one in spec["args"] if one.startswith("--labels=")]
    else:
        arguments = spec["joinConfiguration"]["nodeRegistration"]["kubeletExtraArgs"]
        [labels] = [one["value"] for one in arguments if one["name"] == "node-labels"]
    return str(labels).split(",")


@pytest.mark.parametrize("control_plane", ControlPlaneBackend)
@pytest.mark.parametrize("bare_metal", BareMetalBackend)
@pytest.mark.parametrize("sharing", LABELS)
def test_gpu_sharing_only_adds_one_label(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend, sharing: GpuSharingSpec
) -> None:
    silent = replace(INTENT, taints=(), control_plane=control_plane, bare_metal=bare_metal)
    before, after = build(silent), build(replace(silent, gpu_sharing=sharing))

    assert labelled(after.bootstrap) == [*labelled(before.bootstrap), LABELS[sharing]]
    assert yaml.safe_dump(after.bootstrap).replace(f",{LABELS[sharing]}", "") == yaml.safe_dump(before.bootstrap)
    assert (after.machine, after.data) == (before.machine, before.data)


def test_the_name_of_a_configuration_is_the_value_of_the_nodes_label() -> None:
    [config_map] = configurations("c1", "gpu-operator", (SLICED, CUT, GpuSharingSpec(time_slices=2)))

    assert config_map.namespace == "gpu-operator"
    assert list(config_map.body["data"]) == ["time-slices-2", "time-slices-4"]
    assert LABELS[SLICED].partition("=")[2] in config_map.body["data"]
    assert values((SLICED,))["devicePlugin"]["config"]["name"] == config_map.name


def test_a_configuration_is_valid_for_the_device_plugin() -> None:
    [config_map] = configurations("c1", "gpu-operator", (SLICED,))

    read = yaml.safe_load(config_map.body["data"]["time-slices-4"])

    # NVIDIA/k8s-device-plugin:api/config/v1: the version, and at least two replicas of a resource by its full name.
    assert read.keys() == {"version", "sharing"}
    assert read["version"] == "v1"
    assert read["sharing"] == {
        "timeSlicing": {
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
        }
    }


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        ((), {"migManager": {"enabled": False}}),
        ((CUT,), {"migManager": {"enabled": True}, "mig": {"strategy": "mixed"}}),
        (
            (SLICED,),
            {
                "migManager": {"enabled": False},
                "devicePlugin": {"config": {"name": "device-plugin-config", "default": ""}},
            },
        ),
    ],
)
def test_the_operator_only_gets_configurations_in_use(
    sharing: tuple[GpuSharingSpec, ...], expected: dict[str, Any]
) -> None:
    assert values(sharing) == expected


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [(None, ("nvidia.com/gpu", 8)), (CUT, ("nvidia.com/mig-1g.20gb", 32)), (SLICED, ("nvidia.com/gpu.shared", 32))],
)
def test_shared_gpus_have_another_resource_name_than_a_whole_gpu(
    sharing: GpuSharingSpec | None, expected: tuple[str, int]
) -> None:
    assert offered(H100, sharing) == expected


def test_the_autoscaler_gets_the_resources_of_a_node_of_an_empty_group(inputs_of: Any) -> None:
    pool = next(item for item in inputs_of(NodePoolInput) if item.kind.gpu)
    grows = pool.spec.model_copy(update={"autoscaling": True, "min_nodes": 0, "max_nodes": 9})
    groups = tuple(replace(group, intent=group.intent.model_copy(update={"gpu_sharing": CUT})) for group in pool.groups)

    every = objects(replace(pool, spec=grows, groups=groups).render())

    labels = {
        key.partition("/")[2]: value
        for item in every
        for key, value in item.body["metadata"].get("annotations", {}).items()
        if key.startswith("capacity.cluster-autoscaler.kubernetes.io/gpu")
    }
    assert labels == {"gpu-type": "nvidia.com/mig-1g.20gb", "gpu-count": "32"}


def test_a_cluster_keeps_the_configuration_of_its_nodes_until_the_last_is_replaced(laptop: Environment) -> None:
    [placed] = [placed for placed in clusters(laptop) if placed.cluster.name == "globex-lab"]
    pool = placed.cluster.pools[0].model_copy(update={"gpu_sharing": SLICED})
    asking = replace(placed, cluster=placed.cluster.model_copy(update={"pools": (pool,)}))
    name = laptop.image_pins.groups["globex-lab/lab/a01"]
    cut = laptop.image_pins.intents[name].model_copy(update={"gpu_sharing": CUT})
    pins = laptop.image_pins.model_copy(update={"intents": {**laptop.image_pins.intents, name: cut}})
    region = laptop.model_copy(update={"image_pins": pins})

    assert gpu_sharing(laptop, placed) == ()
    assert gpu_sharing(laptop, asking) == (SLICED,)
    assert gpu_sharing(region, placed) == (CUT,)
    assert gpu_sharing(region, asking) == (SLICED, CUT)


def test_configurations_are_applied_before_the_release_that_reads_them(inputs_of: Any) -> None:
    given = next(item for item in inputs_of(AddOnsInput) if item.facts.gpus)

    items = objects_of(replace(given, facts=replace(given.facts, gpu_sharing=(SLICED,))))

    kinds = [(item.kind, item.name) for item in items]
    assert kinds.index(("ConfigMap", "device-plugin-config")) < kinds.index(("HelmRelease", "gpus"))
