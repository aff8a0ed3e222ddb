"""Nodes of a cluster that run the pods of storage drivers, by its pools and their instance types."""

from __future__ import annotations

from typing import Any

from components.inputs import storage as inputs
from components.lookups.add_ons import facts
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS

RENDER = "tessera-render"


def drivers(environment: Environment, cluster: str) -> dict[str, dict[str, Any]]:
    """Return the values of each storage driver of a cluster."""
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == cluster]
    [catalog] = inputs.of_cluster(environment, placed)
    releases = [item.body["spec"] for item in catalog.render() if item.kind == "HelmRelease"]
    return {release["releaseName"]: release["values"] for release in releases}


def types_of(agent: dict[str, Any]) -> list[str]:
    """Return the instance types on which an agent runs."""
    [term] = agent["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    [expression] = term["matchExpressions"]
    return list(expression["values"])


def without_disks(environment: Environment, name: str) -> Environment:
    """Return the environment with an instance type that has no local disks."""
    types = environment.instance_types
    kinds = tuple(
        kind.model_copy(update={"nvme_disks": 0, "nvme_disk_size": None}) if kind.name == name else kind
        for kind in types.instance_types
    )
    return environment.model_copy(update={"instance_types": types.model_copy(update={"instance_types": kinds})})


def test_agents_of_local_disks_leave_out_instance_types_without_disks() -> None:
    environment = load_environment("eu-south-03a", ENVIRONMENTS)
    bare = without_disks(environment, "cpu-gen5")

    for agent in ("lvmd", "node"):
        assert types_of(drivers(environment, RENDER)["topolvm"][agent]) == ["cpu-gen5", "l40s-8"]
        assert types_of(drivers(bare, RENDER)["topolvm"][agent]) == ["l40s-8"]


def test_controllers_run_on_the_nodes_for_services_of_add_ons() -> None:
    environment = load_environment("eu-south-03a", ENVIRONMENTS)
    found = {
        (placed.cluster.name, driver): values["controller"].items() >= facts(environment, placed).placement.items()
        for placed in clusters(environment)
        for driver, values in drivers(environment, placed.cluster.name).items()
    }

    assert {driver for _, driver in found} == {"snapshot-controller", "csi-driver-nfs", "topolvm"}
    assert [place for place, right in found.items() if not right] == []
