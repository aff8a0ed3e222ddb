"""The engine replaces objects with immutable DPF fields in the correct order, at one API server with their kinds.

Of the laptop's objects only those of DPF are declared, by the components. The nightly `test_immutable_edits.py` has a
region with all objects, and the confirmation tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.api_servers.api_server import LocalApiServer
from tests.support.changes.dpu_rollouts import OTHER_IMAGE
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench
from tests.support.engine.engine_order import assert_in_order, operations_on
from tests.support.engine.ordered_stack import declared, run, serving, stack
from tests.support.engine.pulumi_project import Project

pytestmark = pytest.mark.e2e

GLOBEX = "tenants/globex.yaml"
GROUPS = ("provisioning.dpu.nvidia.com", "svc.dpu.nvidia.com", "vpc.dpu.nvidia.com")
VPCS = "".join(
    f"  - {{name: {name}, isolation: dpf-ovn, egress: public, hosts: /26, pods: /20, services: /24,"
    " load_balancers: /27}\n"
    for name in ("annex", "spare")
)
FLASHED = [("provisioning.dpu.nvidia.com/v1alpha1", kind) for kind in ("BFB", "DPUFlavor")]
CLASS = ("vpc.dpu.nvidia.com/v1alpha1", "IsolationClass")
SPARE = ("DPUDeployment", "spare-")
NETWORKS = ("DPUVPC", "DPUVirtualNetwork", "DPUServiceInterface")
"""Kinds of a VPC on OVN, each after the kinds that it references."""
COME_AND_GO = {
    "BFB": (1, 1),
    "DPUFlavor": (1, 1),
    "DPUDeployment": (1, 1),
    "DPUServiceConfiguration": (3, 4),
    "DPUServiceIPAM": (1, 0),
    "DPUServiceInterface": (2, 2),
    "DPUVPC": (1, 2),
    "DPUVirtualNetwork": (1, 2),
}
"""Number of created and deleted objects by kind: an image and a flavor, a renamed VPC, a VPC with another backend."""
NAME_OTHERS = {"DPUDeployment", "DPUServiceConfiguration", "IsolationClass"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """The laptop's data with two more VPCs on OVN, without nodes."""
    found = Workbench(copy_data(tmp_path_factory.mktemp("data") / "environments", "laptop"))
    found.edit(GLOBEX, "clusters:\n", f"{VPCS}\nclusters:\n")
    found.allocate_checked()
    return found


@pytest.fixture(scope="module")
def server(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    with serving(declared(bench, GROUPS), tmp_path_factory.mktemp("order"), "tenant-acme") as running:
        yield running


@pytest.fixture(scope="module")
def project(server: LocalApiServer, bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A stack with the declared objects of DPUs and their networks."""
    return stack(server, bench, GROUPS, tmp_path_factory.mktemp("project") / "order")


def uids(server: LocalApiServer, api_version: str, kind: str) -> dict[str, str]:
    return {body["metadata"]["name"]: body["metadata"]["uid"] for body in server.api.list(api_version, kind)}


def test_new_objects_are_created_before_references_and_old_ones_deleted_last(
    server: LocalApiServer, bench: Workbench, project: Project
) -> None:
    kept = {kind: uids(server, *kind) for kind in FLASHED}
    isolation = uids(server, *CLASS)
    bench.edit("../catalog/images.yaml", "cloud.example/bfb-3.2.0.bfb", "moved.example/bfb-3.2.0.bfb")
    bench.edit("../catalog/instance_types.yaml", "virtual_functions: 16", "virtual_functions: 32")
    bench.edit("region.yaml", "ovn_central: 10.0.0.30", "ovn_central: 10.0.0.31")
    bench.edit(GLOBEX, "name: annex, isolation: dpf-ovn", "name: outpost, isolation: dpf-ovn")
    bench.edit(GLOBEX, "name: spare, isolation: dpf-ovn", "name: spare, isolation: dpf-hbn")
    bench.allocate_checked()
    bench.promote_dpus()

    planned, done = run(project, "preview"), run(project, "up")

    assert {one[:3] for one in planned} == {one[:3] for one in done}
    assert {one.operation for one in done} == {"create", "update", "delete"}
    comes, goes = (Counter(one.kind for one in done if one.operation == what) for what in ("create", "delete"))
    assert {kind: (comes[kind], goes[kind]) for kind in comes | goes} == COME_AND_GO
    assert {one.kind for one in done if one.operation == "update"} == NAME_OTHERS
    flashed = [one for kind in ("BFB", "DPUFlavor") for one in operations_on(done, "create", kind)]
    assert_in_order(
        flashed, operations_on(done, "update", "DPUDeployment"), [one for one in done if one.operation == "delete"]
    )
    assert_in_order(*(operations_on(done, "create", kind, "outpost-") for kind in NETWORKS))
    assert_in_order(
        operations_on(done, "create", "DPUServiceConfiguration", "spare-"), operations_on(done, "update", *SPARE)
    )
    for vpc in ("annex-", "spare-"):
        assert_in_order(*(operations_on(done, "delete", kind, vpc) for kind in reversed(NETWORKS)))
    assert_in_order(
        *(operations_on(done, "delete", kind, "annex-") for kind in ("DPUDeployment", "DPUServiceConfiguration"))
    )
    for kind, former in kept.items():
        assert former.items() < uids(server, *kind).items()  # DPUs that use it keep it.
    assert uids(server, *CLASS) == isolation


def test_other_flash_inputs_are_replaced_alike_and_a_vpc_moves_to_another_tenant(
    server: LocalApiServer, bench: Workbench, project: Project
) -> None:
    kept = {kind: uids(server, *kind) for kind in FLASHED}
    moved = VPCS.splitlines(keepends=True)[0].replace("annex", "outpost")
    bench.edit("../catalog/images.yaml", "  - {version: bfb-3.2.0,", f"{OTHER_IMAGE}  - {{version: bfb-3.2.0,")
    bench.edit("region.yaml", "image: bfb-3.2.0", "image: bfb-3.2.7")
    bench.edit("region.yaml", "  management_api:", "  mtu_bytes: 8000\n  uplink_mtu_bytes: 8100\n  management_api:")
    bench.edit("region.yaml", "mirror: registry.laptop", "mirror: elsewhere.laptop")
    bench.edit(GLOBEX, moved, "")
    bench.edit("tenants/acme.yaml", "vpcs:\n", f"vpcs:\n{moved}")
    of_globex = (bench.folder / "waivers.yaml").read_text(encoding="utf-8").partition("waivers:\n")[2]
    bench.edit("waivers.yaml", "waivers:\n", f"waivers:\n{of_globex.replace('globex', 'acme')}")
    bench.allocate_checked()
    bench.promote_dpus()

    planned, done = run(project, "preview"), run(project, "up")

    assert {one[:3] for one in planned} == {one[:3] for one in done}
    made = [one for kind in ("BFB", "DPUFlavor") for one in operations_on(done, "create", kind)]
    assert [one.kind for one in made] == ["BFB", "DPUFlavor"]
    assert_in_order(
        made, operations_on(done, "update", "DPUDeployment"), [one for one in done if one.operation == "delete"]
    )
    for kind, former in kept.items():
        assert former.items() < uids(server, *kind).items()
    assert_in_order(*(operations_on(done, "create", kind, "outpost-") for kind in NETWORKS))
    assert_in_order(*(operations_on(done, "delete", kind, "outpost-") for kind in reversed(NETWORKS)))
    vpcs = [body["metadata"] for body in server.api.list(CLASS[0], "DPUVPC")]
    assert [one["namespace"] for one in vpcs if one["name"] == "outpost"] == ["tenant-acme"]


def test_another_dpu_in_a_host_is_refused_in_the_preview(bench: Workbench, project: Project) -> None:
    bench.edit("inventory/hall-a.csv", "MT26A0101", "MT26B0101")
    bench.edit("../catalog/instance_types.yaml", "host_functions: 2", "host_functions: 1")

    refused = project.preview()

    assert refused.code == 1
    assert "ObjectSet inventory/rack-a01: rejected, nothing was changed:" in refused.text
    assert 'spec.serialNumber: Invalid value: "MT26B0101": Serial Number is immutable' in refused.text
    assert "spec.numberOfPFs: Invalid value: 1: Number of PFs is immutable" in refused.text
