"""Edits of immutable DPF fields create a new object, and other objects reference it.

A real API server with the published kinds has all declared objects of the laptop for DPUs and networks, and then gets
those declared after an edit. `test_dpu_waves.py` has such an edit in a whole region.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from jacquard.lab.rehearsal import crds
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.changes.dpu_rollouts import DATA
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench
from tests.support.objects.published_crds import CrdFolder

pytestmark = pytest.mark.e2e

GROUPS = ("provisioning.dpu.nvidia.com", "svc.dpu.nvidia.com", "vpc.dpu.nvidia.com")
GLOBEX, INVENTORY = "tenants/globex.yaml", "inventory/hall-a.csv"
EMPTY = (
    "  - {name: annex, isolation: dpf-ovn, egress: public, hosts: /26, pods: /20, services: /24, load_balancers: /27}"
)
ROW = (
    "a01,1,a01-u01,h100-ib-8,G26A0101,redfish-virtualmedia+https://10.1.1.1/redfish/v1/Systems/1,bmc-a01,"
    '"02:00:00:01:01:01",MT26A0101,leaf-a1\n'
)
Kinds = Mapping[str, int]


def declared(bench: Workbench) -> dict[str, Manifest]:
    """Return the declared objects of DPUs and their networks."""
    environment = bench.load()
    every = (item for part in slices(environment) for item in objects(manifests(environment, part)))
    return {item.key: item for item in every if item.api_version.partition("/")[0] in GROUPS}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    published = CrdFolder()  # Skips the module before anything is started.
    bench = Workbench(copy_data(tmp_path_factory.mktemp("data") / "environments", "laptop"))
    kinds = {(item.api_version.partition("/")[0], item.kind) for item in declared(bench).values()}
    started = LocalApiServer(tmp_path_factory.mktemp("immutable") / "server", kinds=())
    try:
        crds.install(started.api, [crds.prepared(dict(published.definition(*kind))) for kind in sorted(kinds)])
        for namespace in sorted({item.namespace for item in declared(bench).values() if item.namespace}):
            started.namespace(namespace)
        yield started
    finally:
        started.stop()


@pytest.fixture
def bench(server: LocalApiServer, tmp_path: Path) -> Iterator[Workbench]:
    """The laptop's data with their declared objects in the API server; the objects are deleted afterwards."""
    found = Workbench(copy_data(tmp_path / "environments", "laptop"))
    found.edit(GLOBEX, "clusters:\n", f"{EMPTY}\nclusters:\n")
    found.allocate_checked()
    promoted(found, "mirror")  # Promote to the newest templates first, since any edit would do so as well.
    before = declared(found)
    put(server, before)
    yield found
    for item in (*before.values(), *declared(found).values()):
        server.api.delete(ObjectRef.of(dict(item.body)))


def put(server: LocalApiServer, items: Mapping[str, Manifest]) -> None:
    for item in items.values():
        server.api.apply(item.body, field_manager="jacquard")


def promoted(bench: Workbench, field: str) -> None:
    """Change the intent of DPUs, and promote all of them."""
    bench.edit(*DATA[field][0])
    bench.promote_dpus()


def move_to_hbn(bench: Workbench) -> None:
    """Move the VPC on OVN without nodes to HBN, which is rejected for VPCs with nodes."""
    bench.edit(GLOBEX, EMPTY, EMPTY.replace("dpf-ovn", "dpf-hbn"))
    bench.allocate_checked()


class Case(NamedTuple):
    """An edit, and the number of objects by kind that are created, deleted, or get another reference."""

    edit: Callable[[Workbench], None]
    come: Kinds
    go: Kinds
    name_others: Kinds


def _of_dpus(field: str, kind: str) -> Case:
    return Case(lambda bench: promoted(bench, field), {kind: 1}, {kind: 1}, {"DPUDeployment": 4})


CASES = {
    "image of DPUs": _of_dpus("url", "BFB"),
    **{f"{field} of DPUs": _of_dpus(field, "DPUFlavor") for field in ("virtual_functions", "mtu_bytes")},
    "backend of a VPC": Case(
        move_to_hbn,
        {"DPUServiceConfiguration": 1, "DPUServiceIPAM": 1, "DPUServiceInterface": 1},
        {"DPUServiceConfiguration": 2, "DPUServiceInterface": 1, "DPUVPC": 1, "DPUVirtualNetwork": 1},
        {"DPUDeployment": 1},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_edit_creates_a_new_object_and_updates_references(
    server: LocalApiServer, bench: Workbench, name: str
) -> None:
    case, before = CASES[name], declared(bench)
    case.edit(bench)
    assert bench.report() == ""
    after = declared(bench)
    come, go = ([*(one[key] for key in one.keys() - other)] for one, other in ((after, before), (before, after)))

    assert Counter(item.kind for item in come) == case.come
    assert Counter(item.kind for item in go) == case.go
    changed = [key for key in after.keys() & before if after[key].body != before[key].body]
    assert Counter(before[key].kind for key in changed if before[key].kind == "DPUDeployment") == case.name_others

    kept = {item.key: server.api.get(ObjectRef.of(dict(item.body))) for item in go}
    put(server, after)  # The API server accepts all of it.
    assert {item.key: server.api.get(ObjectRef.of(dict(item.body))) for item in go} == kept


@pytest.mark.parametrize("kind", ["BFB", "DPUFlavor", "DPUVirtualNetwork"])
def test_the_previous_object_cannot_be_changed_in_place(server: LocalApiServer, bench: Workbench, kind: str) -> None:
    spec = {"DPUVirtualNetwork": {"externallyRouted": False}, "BFB": {"url": "https://images.moved.example/a.bfb"}}
    item = next(one for one in declared(bench).values() if one.kind == kind)
    other = {**item.body, "spec": {**item.body["spec"], **spec.get(kind, {"dpuMode": "dpu"})}}

    with pytest.raises(ApiError, match="immutable"):
        server.api.apply(other, field_manager="jacquard", dry_run=True)


def test_another_dpu_in_a_host_is_refused_until_its_row_went(server: LocalApiServer, bench: Workbench) -> None:
    [old] = (item for item in declared(bench).values() if (item.kind, item.name) == ("DPUDevice", "a01-u01-dpu"))
    swapped = ROW.replace("MT26A0101", "MT26B0101")
    bench.edit(INVENTORY, ROW, swapped)
    new = declared(bench)[old.key]
    with pytest.raises(ApiError, match="Serial Number is immutable"):
        server.api.apply(new.body, field_manager="jacquard", dry_run=True)

    bench.edit(INVENTORY, swapped, "")
    assert old.key not in declared(bench)
    server.api.delete(ObjectRef.of(dict(old.body)))
    bench.edit(INVENTORY, "leaf\n", f"leaf\n{swapped}")
    put(server, declared(bench))
