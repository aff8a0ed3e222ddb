"""A VPC moves to Kube-OVN and back by ordered replacement of objects, at one API server with Kube-OVN's kinds.

Its cluster has no nodes. Kube-OVN rejects the deletion of a VPC with a switch (KOVN:pkg/webhook/vpc.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench
from tests.support.engine.engine_order import assert_in_order, operations_on
from tests.support.engine.ordered_stack import declared, run, serving, stack
from tests.support.engine.pulumi_project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

GLOBEX = "tenants/globex.yaml"
GROUPS = ("kubeovn.io", "networking.k8s.io")
POOL = {"name": "lab", "role": "system", "instance_type": "cpu-gen4", "nodes": 1}


def set_isolation(bench: Workbench, isolation: str, *add_ons: str) -> None:
    """Set the isolation backend of a retiring cluster's VPC, with the add-ons that provide it."""
    path = bench.folder / GLOBEX
    header, _, text = path.read_text().partition("\n")
    tenant: dict[str, Any] = yaml.safe_load(text)
    [vpc], [cluster] = tenant["vpcs"], tenant["clusters"]
    vpc["isolation"] = isolation
    cluster.update(retire=True, pools=[POOL], storage=[], namespaces=[], pod_priorities=[], add_ons=[*add_ons])
    tenant["contract"] = []
    path.write_text(f"{header}\n{yaml.safe_dump(tenant, sort_keys=False)}")
    bench.allocate_checked()


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """The laptop's data with one tenant, whose VPC is isolated by policies."""
    found = Workbench(copy_data(tmp_path_factory.mktemp("data") / "environments", "laptop"))
    (found.folder / "tenants" / "acme.yaml").unlink()
    for path in found.folder.glob("*.lock.yaml"):
        path.unlink()
    set_isolation(found, "policy-only", "cilium")
    return found


@pytest.fixture
def project(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A stack with the tenant's declared objects, at an API server with the kinds of both backends."""
    policies = declared(bench, GROUPS)
    set_isolation(bench, "kube-ovn")
    every = [*policies, *declared(bench, GROUPS)]
    set_isolation(bench, "policy-only", "cilium")
    with serving(every, tmp_path_factory.mktemp("switches")) as server:
        yield stack(server, bench, GROUPS, tmp_path_factory.mktemp("project") / "switches")


def test_a_vpc_moves_to_kube_ovn_and_back_by_new_objects(bench: Workbench, project: Project) -> None:
    set_isolation(bench, "kube-ovn")
    planned, done = run(project, "preview"), run(project, "up")
    assert {one[:3] for one in planned} == {one[:3] for one in done}
    assert {one.operation for one in done} == {"create", "delete"}
    assert_in_order(
        operations_on(done, "create", "Vpc"),
        operations_on(done, "create", "Subnet"),
        operations_on(done, "delete", "NetworkPolicy"),
    )

    set_isolation(bench, "policy-only", "cilium")
    planned, done = run(project, "preview"), run(project, "up")
    assert {one[:3] for one in planned} == {one[:3] for one in done}
    assert {one.operation for one in done} == {"create", "delete"}
    assert_in_order(
        operations_on(done, "create", "NetworkPolicy"),
        operations_on(done, "delete", "Subnet"),
        operations_on(done, "delete", "Vpc"),
    )
