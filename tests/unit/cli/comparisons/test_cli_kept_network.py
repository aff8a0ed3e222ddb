"""A change of the pod network of a cluster with nodes: every command that compares with a base rejects it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.rules.add_ons.network_kept import network_kept
from components.specs.environment import Environment
from components.specs.region.tenant import TenantSpec
from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
BASE = "base: tenants/acme.yaml:<clusters.acme-train.add_ons>"
LOSES = "is another network for the pods of acme-train, and pods of its 16 nodes would lose their connections"
WAIVE = "if the change is right, add a waiver of add-ons.network-kept for acme-train"
EDITS = {
    "add_ons: [default, calico]": ("add_ons", "calico"),
    "add_ons: default\n    cni_seed: own-network": ("cni_seed", "cni_seed own-network"),
}


@pytest.mark.parametrize(("edited", "expected"), EDITS.items(), ids=EDITS)
def test_another_network_under_running_nodes_is_refused(
    data_folder: Path, invoke: Invoke, edit: Edit, edited: str, expected: tuple[str, str]
) -> None:
    repository = committed(data_folder)
    edit(repository / "laptop" / "tenants" / "acme.yaml", "add_ons: default", edited)

    result = invoke("impact", "laptop")

    key, name = expected
    text = (
        "environments/laptop: 1 problem\n"
        f"  tenants/acme.yaml:LINE  clusters[0].{key}: {name} instead of cilium ({BASE}) {LOSES}; restore cilium, or"
        f" create a new cluster with {name} and move the workloads; {WAIVE}\n"
    )
    assert (result.stderr, result.exit_code) == (resolved(text, repository / "laptop"), ExitCode.BAD_DATA)


def test_an_added_add_on_and_a_cluster_without_nodes_pass(laptop: Environment) -> None:
    monitored, replaced = with_add_ons(laptop, ("default", "monitoring")), with_add_ons(laptop, ("default", "calico"))
    empty = laptop.model_copy(update={"allocations": laptop.allocations.model_copy(update={"groups": {}})})

    assert list(network_kept(laptop, monitored)) == []
    assert list(network_kept(empty, replaced)) == []
    assert [found.subject for found in network_kept(laptop, replaced)] == ["acme-train", "globex-lab"]


def with_add_ons(environment: Environment, names: tuple[str, ...]) -> Environment:
    def changed(tenant: TenantSpec) -> TenantSpec:
        clusters = tuple(cluster.model_copy(update={"add_ons": names}) for cluster in tenant.clusters)
        return tenant.model_copy(update={"clusters": clusters})

    return environment.model_copy(update={"tenants": tuple(map(changed, environment.tenants))})
